// How lookups and writes scale with the GPUs of one host. Usage:
// gpu_scale_bench [NUMBER_OF_GPUS ...]; without one: 1, 2, 4 and so on, as far
// as there are. gpu_scale_bench.py makes a table of what this prints, a JSON
// object a line. Rates are those of all GPUs together.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "core/cuda/cuda_api.h"
#include "core/cuda/preflight.h"
#include "core/cuda/vmm_buffer.h"
#include "core/kernels/kernel_api.h"
#include "tests/bench/gpu_bench_rig.h"
#include "tests/bench/gpu_scale_node.h"

namespace gatherd::kernels {
namespace {

constexpr uint64_t kRowBytes = uint64_t{8} << 30;  // a GPU
constexpr uint64_t kHashedRows = 8'000'000;        // a GPU
constexpr uint32_t kMaxDim = 128;
constexpr double kLoad = 0.9;
constexpr uint32_t kNumKeys = 1 << 20;  // a GPU and launch
// Shards are not of quite the same size.
constexpr double kSlack = 1.01;
static_assert(kHashedRows * kMaxDim * 4 * kSlack < kRowBytes);

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(1);
}

double MsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

void PrintRate(int num_gpus, const std::string& name, const BenchTable& table,
               Keys keys, double keys_per_s) {
  std::printf(
      "{\"gpus\": %d, \"name\": \"%s\", \"dim\": %u, \"keys\": \"%s\", "
      "\"keys_per_s\": %.4g}\n",
      num_gpus, name.c_str(), table.dim,
      keys == Keys::kUniform ? "uniform" : "Zipf", keys_per_s);
  std::fflush(stdout);
}

void PrintValue(int num_gpus, const std::string& name, double value) {
  std::printf("{\"gpus\": %d, \"name\": \"%s\", \"value\": %.4g}\n", num_gpus,
              name.c_str(), value);
  std::fflush(stdout);
}

// Lookups with results on the GPUs, of tables divided over all of them.
class Lookups {
 public:
  Lookups(int num_gpus, VmmBuffer buffer)
      : num_gpus_(num_gpus), buffer_(std::move(buffer)) {
    index_.rows = reinterpret_cast<char*>(buffer_.part(DeviceIndex{0}));
    index_.index = reinterpret_cast<const IndexEntry*>(index_.rows + kRowBytes);
    index_.seed = 77;
    index_.num_buckets = BucketsPerGpu();
    index_.rows_shard_bytes = buffer_.num_bytes_per_device();
    index_.index_shard_bytes = buffer_.num_bytes_per_device();
    index_.shards = MakeShardDivider(static_cast<uint32_t>(num_gpus));
    for (int gpu = 0; gpu < num_gpus; gpu++) {
      Check(cudaSetDevice(gpu));
      char* const part =
          reinterpret_cast<char*>(buffer_.part(static_cast<DeviceIndex>(gpu)));
      Check(cudaMemset(part + kRowBytes, 0, IndexBytes()));
      FillIndex(index_, static_cast<uint32_t>(gpu), num_hashed_rows());
      FillRows(part, kRowBytes);
      batches_.push_back(std::make_unique<Batch>());
      batches_.back()->SetReports(true);
    }
  }

  static uint32_t BucketsPerGpu() { return BucketsFor(kHashedRows, kLoad); }
  static uint64_t IndexBytes() {
    return uint64_t{BucketsPerGpu()} * kEntriesPerBucket * sizeof(IndexEntry);
  }

  void Run() {
    for (const bool hashed : {false, true}) {
      for (const uint32_t dim : {32, 64, 128}) {
        for (const Keys keys : {Keys::kUniform, Keys::kZipf}) {
          Measure(hashed, dim, keys);
        }
      }
    }
  }

 private:
  uint64_t num_hashed_rows() const {
    return kHashedRows * static_cast<uint64_t>(num_gpus_);
  }

  BenchTable TableOf(bool hashed, uint32_t dim) const {
    if (hashed) {
      return WithRows(index_, num_hashed_rows(), ElementType::kFloat32, dim);
    }
    BenchTable table = MakeDense(const_cast<char*>(index_.rows), kRowBytes,
                                 ElementType::kFloat32, dim);
    table.num_rows *= static_cast<uint64_t>(num_gpus_);
    table.ref.num_rows = table.num_rows;
    table.ref.rows_shard_bytes = index_.rows_shard_bytes;
    table.ref.shards = index_.shards;
    return table;
  }

  void Measure(bool hashed, uint32_t dim, Keys keys) {
    const BenchTable table = TableOf(hashed, dim);
    const std::string kind = hashed ? "hashed, " : "dense, ";
    SetBatches(table, kNumKeys, keys, /*split=*/false);
    for (int gpu = 0; gpu < num_gpus_; gpu++) {
      Check(cudaSetDevice(gpu));
      batches_[gpu]->Verify(table);
    }
    const double all_keys = static_cast<double>(num_gpus_) * kNumKeys;
    PrintRate(num_gpus_, kind + "rows wherever they are", table, keys,
              all_keys / TimeTogether() * 1e6);
    if (num_gpus_ == 1) return;
    // Every GPU gets the keys of all, and answers for its own rows.
    SetBatches(table, kNumKeys * static_cast<uint32_t>(num_gpus_), keys,
               /*split=*/true);
    PrintRate(num_gpus_, kind + "divided by owner", table, keys,
              all_keys / TimeTogether() * 1e6);
  }

  void SetBatches(const BenchTable& table, uint32_t num_keys, Keys keys,
                  bool split) {
    for (int gpu = 0; gpu < num_gpus_; gpu++) {
      Check(cudaSetDevice(gpu));
      batches_[gpu]->Set(table, num_keys, keys, table.type);
      batches_[gpu]->batch().this_shard = gpu;
      batches_[gpu]->batch().only_shard = split ? gpu : kAllShards;
    }
  }

  // Launches on all GPUs at once; us for one launch on each.
  double TimeTogether() {
    constexpr uint64_t kLaunches = 30;
    std::vector<double> times;
    for (int run = 0; run < 9; run++) {
      const auto start = std::chrono::steady_clock::now();
      for (uint64_t i = 0; i < kLaunches; i++) {
        for (int gpu = 0; gpu < num_gpus_; gpu++) {
          Check(cudaSetDevice(gpu));
          batches_[gpu]->Launch(i);
        }
      }
      for (const auto& batch : batches_) {
        Check(cudaStreamSynchronize(batch->stream()));
      }
      times.push_back(MsSince(start) * 1e3 / kLaunches);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  const int num_gpus_;
  const VmmBuffer buffer_;  // a GPU: rows, then an index
  TableRef index_;
  std::vector<std::unique_ptr<Batch>> batches_;
};

void MeasureLookups(int num_gpus, const std::vector<DeviceId>& devices) {
  auto start = std::chrono::steady_clock::now();
  const PatternKernels patterns = {RealKernels().FillPatternAsync,
                                   RealKernels().CountWrongWordsAsync};
  const PreflightReport report =
      OrDie(RunPreflight(RealCudaApi(), patterns, devices));
  PrintValue(num_gpus, "preflight, ms", MsSince(start));
  start = std::chrono::steady_clock::now();
  const auto part_bytes = static_cast<uint64_t>(
      kRowBytes + static_cast<double>(Lookups::IndexBytes()) * kSlack);
  VmmBuffer buffer = OrDie(
      VmmBuffer::Create(RealCudaApi(), devices, part_bytes, report.access));
  const double gib = static_cast<double>(buffer.num_bytes_per_device()) *
                     num_gpus / (uint64_t{1} << 30);
  PrintValue(num_gpus, "buffer made, mapped and granted, ms a GiB",
             MsSince(start) / gib);
  if (report.access != VmmAccess::kShared) {
    std::fprintf(stderr, "these GPUs cannot read each other's memory\n");
    std::exit(1);
  }
  Lookups(num_gpus, std::move(buffer)).Run();
}

void MeasureWrites(int num_gpus, const std::vector<DeviceId>& devices) {
  for (const KeySpace key_space : {KeySpace::kDense, KeySpace::kHashed}) {
    const std::string kind =
        key_space == KeySpace::kDense ? "dense: " : "hashed: ";
    const ScaleFigures figures = OrDie(MeasureNode(
        RealCudaApi(), RealKernels(), devices, key_space, ScaleShape()));
    for (const auto& [name, value] : figures) {
      PrintValue(num_gpus, kind + name, value);
    }
  }
}

void Run(const std::vector<int>& numbers) {
  for (const int num_gpus : numbers) {
    std::vector<DeviceId> devices;
    for (int gpu = 0; gpu < num_gpus; gpu++) devices.push_back(DeviceId{gpu});
    MeasureLookups(num_gpus, devices);
    MeasureWrites(num_gpus, devices);
  }
}

}  // namespace
}  // namespace gatherd::kernels

int main(int argc, char** argv) {
  std::vector<int> numbers;
  for (int i = 1; i < argc; i++) numbers.push_back(std::atoi(argv[i]));
  int num_there = 0;
  gatherd::kernels::Check(cudaGetDeviceCount(&num_there));
  if (numbers.empty()) {
    for (int n = 1; n <= num_there; n *= 2) numbers.push_back(n);
  }
  for (const int number : numbers) {
    if (number >= 1 && number <= num_there) continue;
    std::fprintf(stderr, "%d GPUs asked for, there are %d\n", number,
                 num_there);
    return 1;
  }
  gatherd::kernels::Run(numbers);
}
