// Writes to a hashed table on one GPU: 64 M rows of 64 floats at load 0.9, 1 Mi
// keys a write, deduplication included; values and keys on the device. Medians
// over eight rotated sets of keys. Prints keys/s; the host's look at the
// counters between the steps is not in the time.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "core/kernels/dedup.h"
#include "core/kernels/evict.h"
#include "core/kernels/fill.h"
#include "core/kernels/update.h"

namespace gatherd::kernels {
namespace {

constexpr uint64_t kNumRows = 64'000'000;
constexpr uint32_t kNumKeys = 1 << 20;
constexpr uint32_t kDim = 64;
constexpr uint32_t kNumSets = 8;
constexpr int kNumRuns = 24;
constexpr double kZipf = 1.05;

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

template <class T>
T* Allocate(uint64_t count) {
  void* data = nullptr;
  Check(cudaMalloc(&data, count * sizeof(T)));
  Check(cudaMemset(data, 0, count * sizeof(T)));
  return static_cast<T*>(data);
}

__host__ __device__ uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Key i of the table; a bijection.
__host__ __device__ int64_t KeyOf(uint64_t i) {
  return static_cast<int64_t>(Mix(i));
}

// The keys first, first + 1, ... of an order that visits all.
__global__ void DistinctKeys(int64_t* keys, uint64_t first) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i >= kNumKeys) return;
  keys[i] = KeyOf((first + i) % kNumRows * 37'987'651 % kNumRows);
}

__global__ void ZipfKeys(int64_t* keys, uint64_t seed) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i >= kNumKeys) return;
  const double u = static_cast<double>(Mix(seed + i) >> 11) * 0x1p-53;
  const double power = 1 - kZipf;
  const double low = pow(0.5, power);
  const double high = pow(static_cast<double>(kNumRows), power);
  const double x = pow(low + u * (high - low), 1 / power);
  const uint64_t rank =
      min(static_cast<uint64_t>(x + 0.5), uint64_t{kNumRows}) - 1;
  keys[i] = KeyOf(rank);
}

// Keys that have not been in the table, for each `number`.
__global__ void NewKeys(int64_t* keys, uint64_t number) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i < kNumKeys) keys[i] = KeyOf(kNumRows + number * kNumKeys + i);
}

__global__ void RandomStamps(uint32_t* stamps, uint64_t count) {
  const uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x;
  if (i < count) stamps[i] = 1 + static_cast<uint32_t>(Mix(i) >> 34);
}

__global__ void Iota(uint32_t* list, uint32_t count) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) list[i] = i;
}

class Bench {
 public:
  Bench() {
    Check(cudaStreamCreate(&stream_));
    const uint64_t num_slots = kNumRows + 2 * uint64_t{kNumKeys};
    batch_.table.num_buckets =
        static_cast<uint32_t>(kNumRows / 0.9 / kEntriesPerBucket) + 1;
    batch_.table.index = Allocate<IndexEntry>(
        uint64_t{batch_.table.num_buckets} * kEntriesPerBucket);
    batch_.table.row_stride = kDim * 4;
    batch_.table.rows = Allocate<char>(num_slots * kDim * 4);
    batch_.table.default_row = Allocate<char>(kDim * 4);
    batch_.table.seed = 77;
    batch_.num_keys = kNumKeys;
    batch_.dim = kDim;
    batch_.values = Allocate<float>(uint64_t{kNumKeys} * kDim);
    batch_.counters = Allocate<WriteCounters>(1);
    batch_.workspace = DivideWorkspace(
        Allocate<char>(WriteWorkspaceBytes(kNumKeys, kDim, WorkspaceFor::kAdd)),
        kNumKeys, kDim, WorkspaceFor::kAdd);
    free_rows_ = Allocate<uint32_t>(num_slots);
    Iota<<<static_cast<uint32_t>(num_slots / 256 + 1), 256>>>(
        free_rows_, static_cast<uint32_t>(num_slots));
    keys_ = Allocate<int64_t>(uint64_t{kNumKeys} * kNumSets);
    Check(cudaDeviceSynchronize());
  }

  void Run() {
    FillRows();
    uint64_t num_failed = 0;
    std::vector<double> times;
    for (uint64_t first = 0; first < kNumRows; first += kNumKeys) {
      DistinctKeys<<<kNumKeys / 256, 256>>>(keys_, first);
      Check(cudaDeviceSynchronize());
      batch_.keys = keys_;
      batch_.num_keys =
          static_cast<uint32_t>(std::min<uint64_t>(kNumKeys, kNumRows - first));
      times.push_back(Time([&] { Write(free_rows_ + first, nullptr); }));
      num_failed += Counters().num_failed;
    }
    batch_.num_keys = kNumKeys;
    std::printf(
        "insert at load 0.00 / 0.45 / 0.88: %.2f / %.2f / %.2f G/s, "
        "%llu failed\n",
        kNumKeys / times[1] / 1e3, kNumKeys / times[30] / 1e3,
        kNumKeys / times[59] / 1e3,
        static_cast<unsigned long long>(num_failed));
    // What is replaced becomes free at the same place of the list.
    uint32_t* spare = free_rows_ + kNumRows;
    MakeDistinct();
    Report("SET, distinct", [&] { Write(spare, spare); });
    Steps(spare);
    batch_.mode = WriteMode::kAdd;
    Report("ADD, distinct", [&] { Write(spare, spare); });
    for (uint32_t set = 0; set < kNumSets; set++) {
      ZipfKeys<<<kNumKeys / 256, 256>>>(keys_ + uint64_t{set} * kNumKeys,
                                        uint64_t{set} << 40);
    }
    Check(cudaDeviceSynchronize());
    batch_.mode = WriteMode::kSet;
    Report("SET, Zipf 1.05", [&] { Write(spare, spare); });
    Steps(spare);
    batch_.mode = WriteMode::kAdd;
    Report("ADD, Zipf 1.05", [&] { Write(spare, spare); });
    Steps(spare);
    EraseAndInsert(spare);
    EvictAndInsert(spare);
  }

 private:
  void FillRows() {
    char* rows = const_cast<char*>(batch_.table.rows);
    std::vector<double> times;
    for (int run = 0; run < 3; run++) {
      times.push_back(Time([&] {
        Check(FillRowsAsync(rows, kNumRows, batch_.table.default_row,
                            batch_.table.row_stride, stream_));
      }));
    }
    std::printf("default rows: %.0f GB/s\n",
                kNumRows * batch_.table.row_stride / Median(times) / 1e3);
  }

  void MakeDistinct() {
    for (uint32_t set = 0; set < kNumSets; set++) {
      DistinctKeys<<<kNumKeys / 256, 256>>>(keys_ + uint64_t{set} * kNumKeys,
                                            uint64_t{set} * 7'654'321);
    }
    Check(cudaDeviceSynchronize());
  }

  // The rows of the keys erased go to those that are inserted again.
  void EraseAndInsert(uint32_t* rows) {
    MakeDistinct();
    std::vector<double> erases, inserts;
    uint64_t num_failed = 0;
    for (int run = 0; run < kNumRuns; run++) {
      UseSet(run);
      batch_.mode = WriteMode::kSetExisting;
      erases.push_back(Time([&] {
        Check(DeduplicateAsync(batch_, stream_));
        Check(FindTargetsAsync(batch_, stream_));
        Check(EraseAsync(batch_, rows, stream_));
      }));
      batch_.mode = WriteMode::kSet;
      inserts.push_back(Time([&] { Write(rows, nullptr); }));
      num_failed += Counters().num_failed;
    }
    Print("erase", Median(erases));
    Print("insert at load 0.9", Median(inserts));
    std::printf("%llu inserts failed\n",
                static_cast<unsigned long long>(num_failed));
  }

  // Every write brings keys that are new, for which as many rows must go.
  void EvictAndInsert(uint32_t* rows) {
    const uint64_t num_slots = kNumRows + 2 * uint64_t{kNumKeys};
    batch_.table.stamps = Allocate<uint32_t>(num_slots);
    batch_.table.now = 1u << 31;
    RandomStamps<<<static_cast<uint32_t>(num_slots / 256), 256>>>(
        batch_.table.stamps, num_slots);
    EvictionRequest request;
    request.num_rows = kNumKeys;
    request.retired = rows;
    request.num_evicted = Allocate<uint32_t>(1);
    std::vector<double> evictions, inserts;
    uint64_t num_failed = 0, num_missed = 0;
    for (int run = 0; run < kNumRuns; run++) {
      NewKeys<<<kNumKeys / 256, 256>>>(keys_, run);
      Check(cudaDeviceSynchronize());
      batch_.keys = keys_;
      batch_.mode = WriteMode::kSetExisting;
      Check(DeduplicateAsync(batch_, stream_));
      Check(FindTargetsAsync(batch_, stream_));
      request.seed = Mix(run);
      evictions.push_back(
          Time([&] { Check(EvictAsync(batch_, request, stream_)); }));
      uint32_t num_evicted = 0;
      Check(cudaMemcpy(&num_evicted, request.num_evicted, sizeof(num_evicted),
                       cudaMemcpyDeviceToHost));
      num_missed += kNumKeys - num_evicted;
      batch_.mode = WriteMode::kSet;
      batch_.table.now++;
      inserts.push_back(Time([&] { Write(rows, nullptr); }));
      num_failed += Counters().num_failed;
    }
    Print("evict", Median(evictions));
    Print("insert for evicted", Median(inserts));
    std::printf("%llu inserts failed, %llu rows not found\n",
                static_cast<unsigned long long>(num_failed),
                static_cast<unsigned long long>(num_missed));
  }

  void Write(const uint32_t* free_rows, uint32_t* retired) {
    Check(DeduplicateAsync(batch_, stream_));
    Check(FindTargetsAsync(batch_, stream_));
    Check(WriteRowsAsync(batch_, free_rows, stream_));
    Check(PublishAsync(batch_, free_rows, retired, stream_));
  }

  void Steps(uint32_t* spare) {
    std::vector<double> times[4];
    for (int run = 0; run < kNumRuns; run++) {
      UseSet(run);
      times[0].push_back(
          Time([&] { Check(DeduplicateAsync(batch_, stream_)); }));
      times[1].push_back(
          Time([&] { Check(FindTargetsAsync(batch_, stream_)); }));
      times[2].push_back(
          Time([&] { Check(WriteRowsAsync(batch_, spare, stream_)); }));
      times[3].push_back(
          Time([&] { Check(PublishAsync(batch_, spare, spare, stream_)); }));
    }
    std::printf("    dedup %.0f, find %.0f, rows %.0f, publish %.0f us\n",
                Median(times[0]), Median(times[1]), Median(times[2]),
                Median(times[3]));
  }

  void Report(const char* name, const std::function<void()>& write) {
    std::vector<double> times;
    for (int run = 0; run < kNumRuns; run++) {
      UseSet(run);
      times.push_back(Time(write));
    }
    Print(name, Median(times));
    const WriteCounters counters = Counters();
    if (counters.num_existing == 0 || counters.num_inserted != 0) {
      std::printf("WRONG: %u existing, %u inserted\n", counters.num_existing,
                  counters.num_inserted);
    }
  }

  void Print(const char* name, double us) {
    std::printf("%-20s %7.1f us  %.2f G keys/s\n", name, us,
                kNumKeys / us / 1e3);
  }

  void UseSet(int run) {
    batch_.keys = keys_ + uint64_t{kNumKeys} * (run % kNumSets);
  }

  double Time(const std::function<void()>& work) {
    cudaEvent_t start, stop;
    Check(cudaEventCreate(&start));
    Check(cudaEventCreate(&stop));
    Check(cudaEventRecord(start, stream_));
    work();
    Check(cudaEventRecord(stop, stream_));
    Check(cudaEventSynchronize(stop));
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, start, stop));
    Check(cudaEventDestroy(start));
    Check(cudaEventDestroy(stop));
    return ms * 1e3;
  }

  static double Median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  WriteCounters Counters() {
    WriteCounters counters;
    Check(cudaMemcpy(&counters, batch_.counters, sizeof(counters),
                     cudaMemcpyDeviceToHost));
    return counters;
  }

  cudaStream_t stream_ = nullptr;
  WriteBatch batch_;
  uint32_t* free_rows_ = nullptr;
  int64_t* keys_ = nullptr;
};

}  // namespace
}  // namespace gatherd::kernels

int main() { gatherd::kernels::Bench().Run(); }
