// Tables, and keys to ask for, of gpu_bench.
#ifndef GATHERD_TESTS_BENCH_GPU_BENCH_TABLES_H_
#define GATHERD_TESTS_BENCH_GPU_BENCH_TABLES_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/kernels/lookup.h"

namespace gatherd::kernels {

// Ends the program on an error.
void Check(cudaError_t error);

// Device memory, or pinned host memory, of zeros; for good, unless freed.
void* Allocate(uint64_t bytes);
void* AllocatePinned(uint64_t bytes);

enum class Keys { kUniform, kZipf };  // Zipf: exponent 1.05

struct BenchTable {
  TableRef ref;
  uint64_t num_rows = 0;
  ElementType type = ElementType::kFloat32;
  uint32_t dim = 0;
};

uint32_t RowBytes(ElementType type, uint32_t dim);

// Rows fill `memory` and hold what Verify expects of their addresses.
BenchTable MakeDense(char* memory, uint64_t bytes, ElementType type,
                     uint32_t dim);
// An index over `num_rows` random keys; WithRows gives them rows.
TableRef MakeIndex(uint64_t num_rows, double load, char* rows);
uint32_t BucketsFor(uint64_t num_rows, double load);
// Puts the first `num_keys` of the same keys into a table of several shards:
// those that `shard` owns, on the device that has it.
void FillIndex(const TableRef& table, uint32_t shard, uint64_t num_keys);
BenchTable WithRows(const TableRef& index, uint64_t num_rows, ElementType type,
                    uint32_t dim);
void FillRows(char* memory, uint64_t bytes);

// `count` keys in device memory; of each hundred, `absent_percent` are absent.
void FillKeys(int64_t* keys, uint64_t count, const BenchTable& table,
              Keys keys_are, uint64_t seed, uint32_t absent_percent = 0);

// How many of the rows of `output` are not those of `keys`: table type alone,
// zeros for absent keys.
uint32_t CountWrongRows(const BenchTable& table, const int64_t* keys,
                        uint32_t count, const void* output);

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_BENCH_GPU_BENCH_TABLES_H_
