#include "tests/bench/gpu_scale_node.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/gpu_table.h"
#include "core/table/table.h"

namespace gatherd {
namespace {

TableSpec SpecOf(KeySpace key_space, size_t num_devices,
                 const ScaleShape& shape) {
  TableSpec spec;
  spec.name = "scale";
  spec.dim = shape.dim;
  spec.key_space = key_space;
  spec.tiers = {
      {.kind = TierKind::kGpu, .rows = shape.rows_per_device * num_devices}};
  return spec;
}

// Values for `num_rows` rows: element e of row i is i + e.
std::vector<float> MakeValues(size_t num_rows, uint32_t dim) {
  std::vector<float> values(num_rows * dim);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i / dim + i % dim);
  }
  return values;
}

class NodeBench {
 public:
  NodeBench(GpuNode& node, Table& table, const ScaleShape& shape)
      : node_(node),
        table_(table),
        shape_(shape),
        // Nine tenths of a hashed table: evictions are another matter.
        keys_(table.spec().rows() / 10 * 9),
        values_(MakeValues(std::max(shape.write_keys, shape.call_keys),
                           shape.dim)) {
    std::iota(keys_.begin(), keys_.end(), 0);
    std::shuffle(keys_.begin(), keys_.end(), std::mt19937_64(1));
  }

  absl::StatusOr<ScaleFigures> Run() {
    ScaleFigures figures;
    const double row_bytes = static_cast<double>(table_.spec().row_bytes());
    auto rate = WriteAll(/*erase=*/false);
    if (!rate.ok()) return rate.status();
    figures.emplace_back("load rate, GB/s", *rate * row_bytes / 1e9);
    rate = WriteAll(/*erase=*/false);
    if (!rate.ok()) return rate.status();
    figures.emplace_back("SET, M keys/s", *rate / 1e6);
    for (const bool writes : {false, true}) {
      auto latencies = LookUp(writes);
      if (!latencies.ok()) return latencies.status();
      const char* const beside = writes ? " with 10 % updates" : "";
      const auto at = [&](double share) {
        const auto last = static_cast<double>(latencies->size() - 1);
        return (*latencies)[static_cast<size_t>(share * last)];
      };
      figures.emplace_back(absl::StrCat("lookups", beside, ", p50 µs"),
                           at(0.5));
      figures.emplace_back(absl::StrCat("lookups", beside, ", p99 µs"),
                           at(0.99));
    }
    rate = WriteAll(/*erase=*/true);
    if (!rate.ok()) return rate.status();
    figures.emplace_back("erase, M keys/s", *rate / 1e6);
    return figures;
  }

 private:
  UpdateBatch BatchOf(absl::Span<const int64_t> keys) const {
    UpdateBatch batch;
    batch.keys = keys;
    batch.values = reinterpret_cast<const std::byte*>(values_.data());
    return batch;
  }

  // Keys a second.
  absl::StatusOr<double> WriteAll(bool erase) {
    const absl::Time start = absl::Now();
    for (size_t first = 0; first < keys_.size(); first += shape_.write_keys) {
      const auto keys =
          absl::MakeConstSpan(keys_).subspan(first, shape_.write_keys);
      uint64_t num_written = 0;
      if (erase) {
        const auto result = table_.Erase(keys);
        if (!result.ok()) return result.status();
        // Of a dense table there is nothing to count but what is in range.
        num_written = result->num_erased;
      } else {
        const auto result = Update(table_, BatchOf(keys));
        if (!result.ok()) return result.status();
        num_written = result->num_updated + result->num_inserted;
      }
      if (num_written != keys.size()) {
        return absl::InternalError(absl::StrCat(
            num_written, " of ", keys.size(), " keys were written"));
      }
    }
    return static_cast<double>(keys_.size()) /
           absl::ToDoubleSeconds(absl::Now() - start);
  }

  // Sorted, in microseconds.
  absl::StatusOr<std::vector<double>> LookUp(bool writes) {
    std::vector<std::vector<double>> latencies(shape_.num_callers);
    std::vector<absl::Status> errors(shape_.num_callers);
    std::vector<std::thread> callers;
    const absl::Time end = absl::Now() + shape_.duration;
    for (int i = 0; i < shape_.num_callers; ++i) {
      callers.emplace_back([this, i, writes, end, &latencies, &errors] {
        errors[i] = Call(i, writes, end, &latencies[i]);
      });
    }
    for (std::thread& caller : callers) caller.join();
    std::vector<double> all;
    for (int i = 0; i < shape_.num_callers; ++i) {
      if (!errors[i].ok()) return errors[i];
      all.insert(all.end(), latencies[i].begin(), latencies[i].end());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  // One caller: a call after the other, as a server's request would make it,
  // with keys and rows in reply memory.
  absl::Status Call(int caller, bool writes, absl::Time end,
                    std::vector<double>* latencies) {
    const size_t keys_bytes = shape_.call_keys * sizeof(int64_t);
    const size_t rows_bytes = shape_.call_keys * table_.spec().row_bytes();
    std::byte* const memory =
        node_.reply_memory().data() +
        static_cast<size_t>(caller) * (keys_bytes + rows_bytes);
    auto* const keys = reinterpret_cast<int64_t*>(memory + rows_bytes);
    std::vector<uint8_t> missing((shape_.call_keys + 7) / 8);
    std::mt19937_64 random(static_cast<uint64_t>(caller) + 1);
    for (int n = 1; latencies->empty() || absl::Now() < end; ++n) {
      for (size_t i = 0; i < shape_.call_keys; ++i) {
        keys[i] = keys_[random() % keys_.size()];
      }
      const absl::Span<const int64_t> asked(keys, shape_.call_keys);
      if (writes && n % 10 == 0) {
        const auto result = Update(table_, BatchOf(asked));
        if (!result.ok()) return result.status();
        continue;
      }
      LookupBatch batch;
      batch.keys = asked;
      const absl::Time start = absl::Now();
      const auto result = table_.Lookup(batch, {memory, missing.data()});
      if (!result.ok()) return result.status();
      latencies->push_back(absl::ToDoubleMicroseconds(absl::Now() - start));
      if (result->num_missing != 0) {
        return absl::InternalError(
            absl::StrCat(result->num_missing, " keys are missing"));
      }
    }
    return absl::OkStatus();
  }

  GpuNode& node_;
  Table& table_;
  const ScaleShape shape_;
  std::vector<int64_t> keys_;  // of all rows, in any order
  const std::vector<float> values_;
};

}  // namespace

absl::StatusOr<ScaleFigures> MeasureNode(const CudaApi& api,
                                         const kernels::KernelApi& kernels,
                                         absl::Span<const DeviceId> devices,
                                         KeySpace key_space,
                                         const ScaleShape& shape) {
  GpuNodeOptions options;
  options.devices.assign(devices.begin(), devices.end());
  const TableSpec spec = SpecOf(key_space, devices.size(), shape);
  absl::Status status = PlanTables({&spec, 1}, &options);
  if (!status.ok()) return status;
  const absl::Time start = absl::Now();
  auto node = GpuNode::Create(api, kernels, options);
  if (!node.ok()) return node.status();
  auto table = GpuTable::Create(**node, spec);
  if (!table.ok()) return table.status();
  const double ready_ms = absl::ToDoubleMilliseconds(absl::Now() - start);
  auto figures = NodeBench(**node, **table, shape).Run();
  if (figures.ok()) {
    figures->insert(figures->begin(), {"node and table made, ms", ready_ms});
  }
  return figures;
}

}  // namespace gatherd
