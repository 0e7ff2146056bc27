// Lookups on two GPUs of one host, a dense table divided over both. Prints a
// JSON object a line; rates are of both GPUs together.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/cuda/cuda_api.h"
#include "core/cuda/vmm_buffer.h"
#include "tests/bench/gpu_bench_rig.h"

namespace gatherd::kernels {
namespace {

constexpr uint64_t kShardBytes = uint64_t{8} << 30;
constexpr uint32_t kNumKeys = 1 << 20;
constexpr int kNumGpus = 2;

BenchTable TableOver(const VmmBuffer& buffer, uint32_t dim) {
  auto* const rows = reinterpret_cast<char*>(buffer.part(DeviceIndex{0}));
  BenchTable table = MakeDense(rows, kShardBytes, ElementType::kFloat32, dim);
  table.num_rows *= kNumGpus;
  table.ref.num_rows = table.num_rows;
  table.ref.rows_shard_bytes = buffer.num_bytes_per_device();
  table.ref.shards = MakeShardDivider(kNumGpus);
  return table;
}

// Launches on all GPUs of `batches` at once; us for one on each.
double TimeTogether(const std::vector<Batch*>& batches) {
  constexpr uint64_t kLaunches = 40;
  std::vector<double> times;
  for (int run = 0; run < 12; run++) {
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < kLaunches; i++) {
      for (size_t gpu = 0; gpu < batches.size(); gpu++) {
        Check(cudaSetDevice(static_cast<int>(gpu)));
        batches[gpu]->Launch(i);
      }
    }
    for (Batch* batch : batches) Check(cudaStreamSynchronize(batch->stream()));
    times.push_back(std::chrono::duration<double, std::micro>(
                        std::chrono::steady_clock::now() - start)
                        .count() /
                    kLaunches);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void Run() {
  const absl::StatusOr<VmmBuffer> buffer =
      VmmBuffer::Create(RealCudaApi(), {DeviceId{0}, DeviceId{1}}, kShardBytes,
                        VmmAccess::kShared);
  if (!buffer.ok()) {
    std::fprintf(stderr, "%s\n", buffer.status().ToString().c_str());
    std::exit(1);
  }
  std::vector<Batch*> batches;
  for (int gpu = 0; gpu < kNumGpus; gpu++) {
    Check(cudaSetDevice(gpu));
    FillRows(
        reinterpret_cast<char*>(buffer->part(static_cast<DeviceIndex>(gpu))),
        kShardBytes);
    batches.push_back(new Batch());
  }
  for (const uint32_t dim : {32, 64, 128}) {
    const BenchTable table = TableOver(*buffer, dim);
    for (int gpu = 0; gpu < kNumGpus; gpu++) {
      Check(cudaSetDevice(gpu));
      batches[gpu]->Set(table, kNumKeys, Keys::kUniform, table.type);
      batches[gpu]->batch().this_shard = gpu;
    }
    for (const bool reports : {false, true}) {
      const std::string kind = reports ? ", reported" : "";
      for (Batch* batch : batches) {
        batch->SetReports(reports);
        batch->batch().only_shard = kAllShards;
      }
      Print("one GPU, rows of both" + kind, table, kNumKeys,
            TimeTogether({batches[0]}));
      Print("rows wherever they are" + kind, table, kNumGpus * kNumKeys,
            TimeTogether(batches));
      for (int gpu = 0; gpu < kNumGpus; gpu++) {
        batches[gpu]->batch().only_shard = gpu;
      }
      // Both have the same keys, of which each answers for its own.
      Print("divided by owner" + kind, table, kNumKeys, TimeTogether(batches));
    }
  }
}

}  // namespace
}  // namespace gatherd::kernels

int main() { gatherd::kernels::Run(); }
