#include "tests/bench/gpu_scale_lookups.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "tests/bench/gpu_bench_rig.h"

namespace gatherd::kernels {
namespace {

constexpr uint64_t kRowBytes = uint64_t{8} << 30;  // a GPU
constexpr uint64_t kHashedRows = 8'000'000;        // a GPU
constexpr uint32_t kMaxDim = 128;
constexpr double kLoad = 0.9;
constexpr uint32_t kNumKeys = 1 << 20;       // a GPU and launch
constexpr uint32_t kPinnedKeys = 128 << 10;  // the same, results on the host
// Shards are not of quite the same size.
constexpr double kSlack = 1.01;
static_assert(kHashedRows * kMaxDim * 4 * kSlack < kRowBytes);

uint32_t BucketsPerGpu() { return BucketsFor(kHashedRows, kLoad); }
uint64_t IndexBytes() {
  return uint64_t{BucketsPerGpu()} * kEntriesPerBucket * sizeof(IndexEntry);
}

double UsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now() - start)
      .count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Lookups {
 public:
  explicit Lookups(VmmBuffer buffer)
      : num_gpus_(static_cast<int>(buffer.devices().size())),
        buffer_(std::move(buffer)),
        pinned_(static_cast<char*>(AllocatePinned(
            static_cast<uint64_t>(num_gpus_) * kPinnedKeys * kMaxDim * 4))) {
    index_.rows = reinterpret_cast<char*>(buffer_.part(DeviceIndex{0}));
    index_.index = reinterpret_cast<const IndexEntry*>(index_.rows + kRowBytes);
    index_.seed = 77;
    index_.num_buckets = BucketsPerGpu();
    index_.rows_shard_bytes = buffer_.num_bytes_per_device();
    index_.index_shard_bytes = buffer_.num_bytes_per_device();
    index_.shards = MakeShardDivider(static_cast<uint32_t>(num_gpus_));
    for (int gpu = 0; gpu < num_gpus_; gpu++) {
      Check(cudaSetDevice(gpu));
      ReachPeers(gpu);
      char* const part =
          reinterpret_cast<char*>(buffer_.part(static_cast<DeviceIndex>(gpu)));
      Check(cudaMemset(part + kRowBytes, 0, IndexBytes()));
      FillIndex(index_, static_cast<uint32_t>(gpu), num_hashed_rows());
      FillRows(part, kRowBytes);
      batches_.push_back(std::make_unique<Batch>());
      batches_.back()->batch().this_shard = gpu;
    }
  }
  ~Lookups() { Check(cudaFreeHost(pinned_)); }

  void Run() {
    for (const bool hashed : {false, true}) {
      for (const uint32_t dim : {32, 64, 128}) {
        const BenchTable table = TableOf(hashed, dim);
        for (const Keys keys : {Keys::kUniform, Keys::kZipf}) {
          MeasureOnGpus(table, keys);
        }
        MeasureOnHost(table);
      }
      MeasureAlone(TableOf(hashed, 64));
    }
  }

 private:
  using LaunchFn = std::function<void(int gpu, uint64_t i)>;

  uint64_t num_hashed_rows() const {
    return kHashedRows * static_cast<uint64_t>(num_gpus_);
  }

  // Outputs are in memory of one GPU.
  void ReachPeers(int gpu) const {
    for (int peer = 0; peer < num_gpus_; peer++) {
      if (peer == gpu) continue;
      const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
      if (error != cudaErrorPeerAccessAlreadyEnabled) Check(error);
      (void)cudaGetLastError();
    }
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

  void MeasureOnGpus(const BenchTable& table, Keys keys) {
    // Every GPU asks for other keys.
    SetBatches(table, kNumKeys, keys, kAllShards);
    for (int gpu = 0; gpu < num_gpus_; gpu++) {
      Check(cudaSetDevice(gpu));
      batches_[gpu]->SetReports(true);
      batches_[gpu]->Verify(table);
      batches_[gpu]->SetReports(false);
    }
    Print("rows wherever they are", table, keys, kNumKeys,
          TimeTogether([this](int gpu, uint64_t i) {
            batches_[gpu]->Launch(i + static_cast<uint64_t>(gpu));
          }));
    if (num_gpus_ == 1) return;
    MeasurePushed(table, keys);
    // Every GPU gets the keys of all, and answers for its own rows.
    SetBatches(table, kNumKeys * static_cast<uint32_t>(num_gpus_), keys,
               kEachItsOwn);
    Print("divided by owner", table, keys, kNumKeys,
          TimeTogether(
              [this](int gpu, uint64_t i) { batches_[gpu]->Launch(i); }));
  }

  // Every GPU asks for its own keys, and all send it what they own.
  void MeasurePushed(const BenchTable& table, Keys keys) {
    std::vector<Batch*> askers;
    for (const auto& batch : batches_) askers.push_back(batch.get());
    const auto launch = [&](int gpu, uint64_t i) {
      batches_[gpu]->Push(askers, i);
    };
    for (int gpu = 0; gpu < num_gpus_; gpu++) {
      Check(cudaSetDevice(gpu));
      batches_[gpu]->batch().only_shard = gpu;
      batches_[gpu]->Poison();
    }
    TimeTogether(launch, /*num_runs=*/1, /*num_launches=*/1);
    RequireRight(table);
    Print("pushed by owners", table, keys, kNumKeys, TimeTogether(launch));
  }

  // Every GPU stores the rows that it owns into the same reply.
  void MeasureOnHost(const BenchTable& table) {
    const uint32_t num_keys = kPinnedKeys * static_cast<uint32_t>(num_gpus_);
    SetBatches(table, num_keys, Keys::kUniform, kEachItsOwn);
    const uint64_t bytes =
        uint64_t{kPinnedKeys} * RowBytes(table.type, table.dim);
    const double ceiling_us = TimeTogether([&](int gpu, uint64_t) {
      Check(cudaMemcpyAsync(pinned_ + static_cast<uint64_t>(gpu) * bytes,
                            batches_[gpu]->segment().output, bytes,
                            cudaMemcpyDeviceToHost, batches_[gpu]->stream()));
    });
    for (const auto& batch : batches_) batch->segment().output = pinned_;
    batches_[0]->Poison();
    const auto launch = [this](int gpu, uint64_t i) {
      batches_[gpu]->Launch(i);
    };
    TimeTogether(launch, /*num_runs=*/1, /*num_launches=*/1);
    // The reply is one, and so are the keys.
    Check(cudaSetDevice(0));
    batches_[0]->RequireRight(table);
    Print("to pinned memory", table, Keys::kUniform, kPinnedKeys,
          TimeTogether(launch), ceiling_us);
  }

  // One batch at a time, from before its launch until its reports are seen;
  // keys and rows are in pinned memory.
  void MeasureAlone(const BenchTable& table) {
    for (const uint32_t num_keys : {256, 512, 1024, 2048, 4096, 8192}) {
      for (int gpu = 0; gpu < num_gpus_; gpu++) {
        Check(cudaSetDevice(gpu));
        batches_[gpu]->SetPinned(table, num_keys);
        batches_[gpu]->SetReports(true);
        batches_[gpu]->Launch(0);  // has the keys copied
        batches_[gpu]->WaitForReport();
        // As the engine launches.
        batches_[gpu]->batch().keys_on_host = false;
        batches_[gpu]->segment().output = pinned_;
        batches_[gpu]->batch().only_shard = kAllShards;
      }
      const std::string name =
          (table.ref.index == nullptr ? "dense" : "hashed") +
          (", " + std::to_string(num_keys)) + " keys alone";
      PrintScaleValue(num_gpus_, name + ", one GPU, p50 µs", TimeAlone(1));
      if (num_gpus_ == 1) continue;
      for (int gpu = 0; gpu < num_gpus_; gpu++) {
        batches_[gpu]->batch().only_shard = gpu;
      }
      PrintScaleValue(num_gpus_, name + ", divided, p50 µs",
                      TimeAlone(num_gpus_));
    }
  }

  double TimeAlone(int num_gpus) {
    std::vector<double> times;
    for (int run = 0; run < 400; run++) {
      const auto start = std::chrono::steady_clock::now();
      for (int gpu = 0; gpu < num_gpus; gpu++) {
        Check(cudaSetDevice(gpu));
        batches_[gpu]->LaunchSameKeys();
      }
      for (int gpu = 0; gpu < num_gpus; gpu++) batches_[gpu]->WaitForReport();
      times.push_back(UsSince(start));
    }
    return Median(std::move(times));
  }

  static constexpr int32_t kEachItsOwn = -2;

  void SetBatches(const BenchTable& table, uint32_t num_keys, Keys keys,
                  int32_t only_shard) {
    for (int gpu = 0; gpu < num_gpus_; gpu++) {
      Check(cudaSetDevice(gpu));
      Batch& batch = *batches_[gpu];
      batch.Set(table, num_keys, keys, table.type);
      batch.SetReports(false);
      batch.batch().only_shard = only_shard == kEachItsOwn ? gpu : only_shard;
    }
  }

  void RequireRight(const BenchTable& table) {
    for (int gpu = 0; gpu < num_gpus_; gpu++) {
      Check(cudaSetDevice(gpu));
      batches_[gpu]->RequireRight(table);
    }
  }

  // Launches on all GPUs at once; the median of us for one launch on each.
  double TimeTogether(const LaunchFn& launch, int num_runs = 9,
                      uint64_t num_launches = 30) {
    std::vector<double> times;
    for (int run = 0; run < num_runs; run++) {
      const auto start = std::chrono::steady_clock::now();
      for (uint64_t i = 0; i < num_launches; i++) {
        for (int gpu = 0; gpu < num_gpus_; gpu++) {
          Check(cudaSetDevice(gpu));
          launch(gpu, i);
        }
      }
      for (const auto& batch : batches_) {
        Check(cudaStreamSynchronize(batch->stream()));
      }
      times.push_back(UsSince(start) / static_cast<double>(num_launches));
    }
    return Median(std::move(times));
  }

  // `num_keys` is that of each GPU; `ceiling_us`: 0, or what can be had.
  void Print(const char* how, const BenchTable& table, Keys keys,
             uint32_t num_keys, double us, double ceiling_us = 0) const {
    const double all_keys = static_cast<double>(num_gpus_) * num_keys;
    std::printf(
        "{\"gpus\": %d, \"name\": \"%s, %s\", \"dim\": %u, \"keys\": \"%s\", "
        "\"keys_per_s\": %.4g",
        num_gpus_, table.ref.index == nullptr ? "dense" : "hashed", how,
        table.dim, keys == Keys::kUniform ? "uniform" : "Zipf",
        all_keys / us * 1e6);
    if (ceiling_us != 0) {
      std::printf(", \"ceiling\": %.4g", all_keys / ceiling_us * 1e6);
    }
    std::printf("}\n");
    std::fflush(stdout);
  }

  const int num_gpus_;
  const VmmBuffer buffer_;  // a GPU: rows, then an index
  char* const pinned_;      // rows of all GPUs
  TableRef index_;
  std::vector<std::unique_ptr<Batch>> batches_;
};

}  // namespace

uint64_t ScaleBytesPerGpu() {
  return static_cast<uint64_t>(kRowBytes +
                               static_cast<double>(IndexBytes()) * kSlack);
}

void MeasureScaleLookups(VmmBuffer buffer) { Lookups(std::move(buffer)).Run(); }

void PrintScaleValue(int num_gpus, const std::string& name, double value) {
  std::printf("{\"gpus\": %d, \"name\": \"%s\", \"value\": %.4g}\n", num_gpus,
              name.c_str(), value);
  std::fflush(stdout);
}

}  // namespace gatherd::kernels
