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

constexpr uint64_t kPinnedAlignment = 4096;

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

uint64_t CallBytes(const TableSpec& spec, const ScaleShape& shape) {
  return shape.call_keys * (sizeof(int64_t) + spec.row_bytes());
}

// What all callers, and one write, have in pinned memory.
uint64_t PinnedBytes(const TableSpec& spec, const ScaleShape& shape) {
  return static_cast<uint64_t>(shape.num_callers) * CallBytes(spec, shape) +
         shape.write_keys * (sizeof(int64_t) + spec.row_bytes()) +
         kPinnedAlignment;
}

// Where keys and rows of a write are.
enum class From {
  kPinned,    // as the server has those of a request
  kPageable,  // which devices cannot read
};

// What is written while lookups run.
enum class Beside { kNothing, kSmallWrites, kLargeWrites };

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
    const uint64_t callers = static_cast<uint64_t>(shape.num_callers) *
                             CallBytes(table.spec(), shape);
    pinned_values_ =
        node.reply_memory().data() +
        (callers + kPinnedAlignment - 1) / kPinnedAlignment * kPinnedAlignment;
    const size_t values_bytes = shape.write_keys * table.spec().row_bytes();
    std::copy_n(reinterpret_cast<const std::byte*>(values_.data()),
                values_bytes, pinned_values_);
    pinned_keys_ = reinterpret_cast<int64_t*>(pinned_values_ + values_bytes);
  }

  absl::StatusOr<ScaleFigures> Run() {
    ScaleFigures figures;
    const double row_bytes = static_cast<double>(table_.spec().row_bytes());
    auto rate =
        WriteAll(From::kPinned, shape_.block_keys * node_.num_devices());
    if (!rate.ok()) return rate.status();
    figures.emplace_back("load rate, GB/s", *rate * row_bytes / 1e9);
    rate = WriteAll(From::kPinned, shape_.write_keys);
    if (!rate.ok()) return rate.status();
    figures.emplace_back("SET, M keys/s", *rate / 1e6);
    rate = WriteAll(From::kPageable, shape_.write_keys);
    if (!rate.ok()) return rate.status();
    figures.emplace_back("SET of rows not pinned, M keys/s", *rate / 1e6);
    rate = SmallWrites();
    if (!rate.ok()) return rate.status();
    figures.emplace_back(
        absl::StrCat("SET of ", shape_.call_keys, " keys, p50 µs"), *rate);
    for (const auto& [beside, name] :
         {std::pair{Beside::kNothing, "lookups"},
          std::pair{Beside::kSmallWrites, "lookups with 10 % updates"},
          std::pair{Beside::kLargeWrites, "lookups beside large SETs"}}) {
      auto latencies = LookUp(beside);
      if (!latencies.ok()) return latencies.status();
      const auto at = [&](double share) {
        const auto last = static_cast<double>(latencies->size() - 1);
        return (*latencies)[static_cast<size_t>(share * last)];
      };
      figures.emplace_back(absl::StrCat(name, ", p50 µs"), at(0.5));
      figures.emplace_back(absl::StrCat(name, ", p99 µs"), at(0.99));
    }
    rate = EraseAll();
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

  // Keys a second, but for the time in which keys are put in place.
  absl::StatusOr<double> WriteAll(From from, size_t write_keys) {
    absl::Duration sum;
    for (size_t first = 0; first < keys_.size(); first += write_keys) {
      UpdateBatch batch =
          BatchOf(absl::MakeConstSpan(keys_).subspan(first, write_keys));
      if (from == From::kPinned) {
        std::copy(batch.keys.begin(), batch.keys.end(), pinned_keys_);
        batch.keys = {pinned_keys_, batch.keys.size()};
        batch.values = pinned_values_;
      }
      const absl::Time start = absl::Now();
      const auto result = Update(table_, batch);
      if (!result.ok()) return result.status();
      sum += absl::Now() - start;
      absl::Status status = CheckCount(
          result->num_updated + result->num_inserted, batch.keys.size());
      if (!status.ok()) return status;
    }
    return static_cast<double>(keys_.size()) / absl::ToDoubleSeconds(sum);
  }

  absl::StatusOr<double> EraseAll() {
    const absl::Time start = absl::Now();
    for (size_t first = 0; first < keys_.size(); first += shape_.write_keys) {
      const auto keys =
          absl::MakeConstSpan(keys_).subspan(first, shape_.write_keys);
      const auto result = table_.Erase(keys);
      if (!result.ok()) return result.status();
      // Of a dense table there is nothing to count but what is in range.
      absl::Status status = CheckCount(result->num_erased, keys.size());
      if (!status.ok()) return status;
    }
    return static_cast<double>(keys_.size()) /
           absl::ToDoubleSeconds(absl::Now() - start);
  }

  static absl::Status CheckCount(uint64_t num_written, uint64_t num_keys) {
    if (num_written == num_keys) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat(num_written, " of ", num_keys, " keys were written"));
  }

  // Microseconds of the median.
  absl::StatusOr<double> SmallWrites() {
    std::vector<double> latencies;
    std::mt19937_64 random(1);
    for (int n = 0; n < shape_.num_small_writes; ++n) {
      for (size_t i = 0; i < shape_.call_keys; ++i) {
        pinned_keys_[i] = keys_[random() % keys_.size()];
      }
      UpdateBatch batch = BatchOf({pinned_keys_, shape_.call_keys});
      batch.values = pinned_values_;
      const absl::Time start = absl::Now();
      const auto result = Update(table_, batch);
      if (!result.ok()) return result.status();
      latencies.push_back(absl::ToDoubleMicroseconds(absl::Now() - start));
    }
    const auto middle = latencies.begin() + latencies.size() / 2;
    std::nth_element(latencies.begin(), middle, latencies.end());
    return *middle;
  }

  // Sorted, in microseconds.
  absl::StatusOr<std::vector<double>> LookUp(Beside beside) {
    std::vector<std::vector<double>> latencies(shape_.num_callers);
    std::vector<absl::Status> errors(shape_.num_callers);
    std::vector<std::thread> callers;
    const absl::Time end = absl::Now() + shape_.duration;
    for (int i = 0; i < shape_.num_callers; ++i) {
      callers.emplace_back([this, i, beside, end, &latencies, &errors] {
        errors[i] = Call(i, beside == Beside::kSmallWrites, end, &latencies[i]);
      });
    }
    absl::Status written;
    while (beside == Beside::kLargeWrites && written.ok() &&
           absl::Now() < end) {
      written = WriteAll(From::kPinned, shape_.write_keys).status();
    }
    for (std::thread& caller : callers) caller.join();
    if (!written.ok()) return written;
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
    const size_t rows_bytes = shape_.call_keys * table_.spec().row_bytes();
    std::byte* const memory =
        node_.reply_memory().data() +
        static_cast<size_t>(caller) * CallBytes(table_.spec(), shape_);
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
  // In the node's reply memory, behind what the callers have there.
  std::byte* pinned_values_;  // of write_keys rows
  int64_t* pinned_keys_;
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
  options.reply_bytes = PinnedBytes(spec, shape);
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
