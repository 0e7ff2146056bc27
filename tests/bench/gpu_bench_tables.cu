#include "tests/bench/gpu_bench_tables.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/kernels/dedup.h"
#include "core/kernels/find_entry.cuh"
#include "core/kernels/update.h"

namespace gatherd::kernels {
namespace {

constexpr double kZipf = 1.05;

__host__ __device__ uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Key i of a hashed table; those from 2^40 on are absent.
__host__ __device__ int64_t KeyOf(uint64_t i) {
  return static_cast<int64_t>(Mix(i));
}
constexpr uint64_t kFirstAbsent = uint64_t{1} << 40;

// Word i of a row array: finite as float32, float16 and bfloat16.
__device__ uint32_t WordOf(uint64_t i) {
  return 0x30003000u | (static_cast<uint32_t>(Mix(i)) & 0x03ff03ffu);
}

__global__ void FillRowsKernel(uint32_t* words, uint64_t count) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += step) {
    words[i] = WordOf(i);
  }
}

// W. Hoermann, G. Derflinger: Rejection-inversion to generate variates from
// monotone discrete distributions (1996).
struct ZipfRanks {
  uint64_t num_ranks;

  __device__ static double Integral(double x) {
    return (pow(x, 1 - kZipf) - 1) / (1 - kZipf);
  }
  __device__ static double Inverse(double y) {
    return pow(1 + y * (1 - kZipf), 1 / (1 - kZipf));
  }
  // In [0, num_ranks).
  __device__ uint64_t Draw(uint64_t seed) const {
    const double first = Integral(1.5) - 1;
    const double last = Integral(static_cast<double>(num_ranks) + 0.5);
    const double sure = 2 - Inverse(Integral(2.5) - pow(2.0, -kZipf));
    for (;; seed = Mix(seed)) {
      const double u = last + static_cast<double>(Mix(seed) >> 11) * 0x1p-53 *
                                  (first - last);
      const double x = Inverse(u);
      const double rank =
          fmin(fmax(floor(x + 0.5), 1.0), static_cast<double>(num_ranks));
      if (rank - x <= sure || u >= Integral(rank + 0.5) - pow(rank, -kZipf)) {
        return static_cast<uint64_t>(rank) - 1;
      }
    }
  }
};

__global__ void FillKeysKernel(int64_t* keys, uint64_t count, uint64_t num_rows,
                               bool hashed, Keys keys_are, uint64_t seed,
                               uint32_t absent_percent) {
  const uint64_t step = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += step) {
    const uint64_t random = Mix(Mix(seed) + i);
    // Neighbours in rank are no neighbours in memory.
    const uint64_t row =
        keys_are == Keys::kUniform
            ? random % num_rows
            : ZipfRanks{num_rows}.Draw(random) * 37'987'651 % num_rows;
    const bool absent = Mix(random) % 100 < absent_percent;
    keys[i] = hashed ? KeyOf(absent ? kFirstAbsent + row : row)
                     : static_cast<int64_t>(absent ? num_rows + row : row);
  }
}

// Where the row of a key is; null if there is none.
__device__ RowPlace FindOne(const TableRef& t, int64_t key) {
  if (t.index == nullptr) return FindDense(t, key);
  const KeyPlace place = PlaceOf(key, t);
  const auto* const index = reinterpret_cast<const IndexEntry*>(
      reinterpret_cast<uint64_t>(t.index) + place.shard * t.index_shard_bytes);
  uint32_t at = FindInBucket(index, place.first, key, kValid);
  if (at == kAbsentPlace) at = FindInBucket(index, place.second, key, kValid);
  return HashedRow(t, place.shard, at == kAbsentPlace ? 0 : index[at].row + 1);
}

// One key a thread: counts the output rows that are not the key's.
__global__ void VerifyKernel(TableRef t, const int64_t* keys, uint32_t count,
                             const uint32_t* output, uint32_t row_words,
                             uint32_t* num_wrong) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const RowPlace place = FindOne(t, keys[i]);
  const bool found = place.shard != kNoShard;
  const uint64_t first =
      found ? static_cast<uint64_t>(place.row - t.rows -
                                    place.shard * t.rows_shard_bytes) /
                  4
            : 0;
  bool wrong = false;
  for (uint32_t w = 0; w < row_words; w++) {
    const uint32_t expected = found ? WordOf(first + w) : 0;
    wrong = wrong || output[uint64_t{i} * row_words + w] != expected;
  }
  if (wrong) atomicAdd(num_wrong, 1);
}

__global__ void TableKeys(int64_t* keys, uint64_t first, uint32_t count) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) keys[i] = KeyOf(first + i);
}

__global__ void Iota(uint32_t* list, uint32_t first, uint32_t count) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) list[i] = first + i;
}

}  // namespace

void Check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

void* Allocate(uint64_t bytes) {
  void* memory = nullptr;
  Check(cudaMalloc(&memory, bytes));
  Check(cudaMemset(memory, 0, bytes));
  return memory;
}

void* AllocatePinned(uint64_t bytes) {
  void* memory = nullptr;
  Check(cudaMallocHost(&memory, bytes));
  std::memset(memory, 0, bytes);
  return memory;
}

uint32_t RowBytes(ElementType type, uint32_t dim) {
  if (type == ElementType::kFloat32) return dim * 4;
  return type == ElementType::kInt8 ? dim + 4 : dim * 2;
}

void FillRows(char* memory, uint64_t bytes) {
  FillRowsKernel<<<2112, 256>>>(reinterpret_cast<uint32_t*>(memory), bytes / 4);
  Check(cudaDeviceSynchronize());
}

BenchTable MakeDense(char* memory, uint64_t bytes, ElementType type,
                     uint32_t dim) {
  static const char* const default_row =
      static_cast<const char*>(Allocate(1 << 16));
  BenchTable table;
  table.type = type;
  table.dim = dim;
  table.ref.rows = memory;
  table.ref.default_row = default_row;
  table.ref.row_stride = (RowBytes(type, dim) + 15) / 16 * 16;
  table.num_rows = bytes / table.ref.row_stride;
  table.ref.num_rows = table.num_rows;
  return table;
}

TableRef MakeIndex(uint64_t num_rows, double load, char* rows) {
  TableRef table;
  table.num_buckets = BucketsFor(num_rows, load);
  table.index = static_cast<const IndexEntry*>(Allocate(
      uint64_t{table.num_buckets} * kEntriesPerBucket * sizeof(IndexEntry)));
  table.rows = rows;
  table.default_row = static_cast<const char*>(Allocate(1 << 16));
  table.seed = 77;
  FillIndex(table, 0, num_rows);
  return table;
}

uint32_t BucketsFor(uint64_t num_rows, double load) {
  return static_cast<uint32_t>(static_cast<double>(num_rows) / load /
                               kEntriesPerBucket) +
         1;
}

void FillIndex(const TableRef& table, uint32_t shard, uint64_t num_keys) {
  constexpr uint32_t kStep = 1 << 20;
  constexpr uint32_t kDim = 4;  // as short as rows can be
  WriteBatch b;
  b.table = table;
  b.table.row_stride = kDim * 4;
  b.shard = shard;
  b.dim = kDim;
  auto* const keys = static_cast<int64_t*>(Allocate(kStep * 8));
  auto* const free_rows = static_cast<uint32_t*>(Allocate(kStep * 4));
  void* const values = Allocate(uint64_t{kStep} * kDim * 4);
  b.keys = keys;
  b.values = values;
  b.counters = static_cast<WriteCounters*>(Allocate(sizeof(WriteCounters)));
  char* const workspace = static_cast<char*>(
      Allocate(WriteWorkspaceBytes(kStep, kDim, WorkspaceFor::kAdd)));
  b.workspace = DivideWorkspace(workspace, kStep, kDim, WorkspaceFor::kAdd);
  uint32_t num_rows = 0;
  for (uint64_t first = 0; first < num_keys; first += kStep) {
    b.num_keys =
        static_cast<uint32_t>(std::min<uint64_t>(kStep, num_keys - first));
    TableKeys<<<kStep / 256, 256>>>(keys, first, b.num_keys);
    Iota<<<kStep / 256, 256>>>(free_rows, num_rows, b.num_keys);
    Check(DeduplicateAsync(b, nullptr));
    Check(FindTargetsAsync(b, nullptr));
    Check(WriteRowsAsync(b, free_rows, nullptr));
    Check(PublishAsync(b, free_rows, nullptr, nullptr));
    WriteCounters counters;
    Check(cudaMemcpy(&counters, b.counters, sizeof(counters),
                     cudaMemcpyDeviceToHost));
    num_rows += counters.num_inserted;
    if (counters.num_failed != 0 || counters.num_existing != 0) {
      std::fprintf(stderr, "could not fill an index\n");
      std::exit(1);
    }
  }
  for (void* memory :
       {static_cast<void*>(keys), static_cast<void*>(free_rows), values,
        static_cast<void*>(b.counters), static_cast<void*>(workspace)}) {
    Check(cudaFree(memory));
  }
}

BenchTable WithRows(const TableRef& index, uint64_t num_rows, ElementType type,
                    uint32_t dim) {
  BenchTable table;
  table.ref = index;
  table.ref.row_stride = (RowBytes(type, dim) + 15) / 16 * 16;
  table.num_rows = num_rows;
  table.type = type;
  table.dim = dim;
  return table;
}

void FillKeys(int64_t* keys, uint64_t count, const BenchTable& table,
              Keys keys_are, uint64_t seed, uint32_t absent_percent) {
  FillKeysKernel<<<2112, 256>>>(keys, count, table.num_rows,
                                table.ref.index != nullptr, keys_are, seed,
                                absent_percent);
  Check(cudaDeviceSynchronize());
}

uint32_t CountWrongRows(const BenchTable& table, const int64_t* keys,
                        uint32_t count, const void* output) {
  auto* const num_wrong = static_cast<uint32_t*>(Allocate(4));
  VerifyKernel<<<count / 256 + 1, 256>>>(table.ref, keys, count,
                                         static_cast<const uint32_t*>(output),
                                         table.ref.row_stride / 4, num_wrong);
  uint32_t wrong = 0;
  Check(cudaMemcpy(&wrong, num_wrong, 4, cudaMemcpyDeviceToHost));
  Check(cudaFree(num_wrong));
  return wrong;
}

}  // namespace gatherd::kernels
