// What the steps of a write share: device side.
#ifndef GATHERD_CORE_KERNELS_WRITE_BATCH_CUH_
#define GATHERD_CORE_KERNELS_WRITE_BATCH_CUH_

#include "core/kernels/lookup.cuh"
#include "core/kernels/write_batch.h"

namespace gatherd::kernels {

inline constexpr int kWriteThreads = 256;

inline uint32_t WriteBlocks(uint32_t num_items) {
  return (num_items + kWriteThreads - 1) / kWriteThreads;
}

__device__ __forceinline__ IndexEntry* ShardIndex(const WriteBatch& b) {
  return reinterpret_cast<IndexEntry*>(
      reinterpret_cast<uint64_t>(b.table.index) +
      b.shard * b.table.index_shard_bytes);
}

__device__ __forceinline__ char* ShardRow(const WriteBatch& b, uint32_t row) {
  return const_cast<char*>(b.table.rows) + b.shard * b.table.rows_shard_bytes +
         static_cast<uint64_t>(row) * b.table.row_stride;
}

// Of tables that evict.
__device__ __forceinline__ volatile uint32_t* ShardStamps(const WriteBatch& b) {
  return reinterpret_cast<volatile uint32_t*>(
      reinterpret_cast<uint64_t>(b.table.stamps) +
      b.shard * b.table.stamps_shard_bytes);
}

__host__ __device__ inline unsigned RowBytesOf(ElementType type, unsigned dim) {
  return type == ElementType::kFloat32 ? dim * 4
         : type == ElementType::kInt8  ? dim + 4
                                       : dim * 2;
}

// Counts the threads of a block that have `flag` set and gives each of them its
// number among all that were counted. All threads of the block must call;
// returns what is meaningful only where `flag` is set.
__device__ __forceinline__ uint32_t CountInBlock(bool flag, uint32_t* counter) {
  __shared__ uint32_t starts[kWriteThreads / kWarpSize];
  const unsigned lane = threadIdx.x % kWarpSize;
  const unsigned warp = threadIdx.x / kWarpSize;
  const unsigned flags = __ballot_sync(kFullWarp, flag);
  __syncthreads();  // the array may still be read from an earlier call
  if (lane == 0) starts[warp] = __popc(flags);
  __syncthreads();
  if (threadIdx.x == 0) {
    uint32_t total = 0;
    for (uint32_t& start : starts) {
      const uint32_t count = start;
      start = total;
      total += count;
    }
    const uint32_t base = total == 0 ? 0 : atomicAdd(counter, total);
    for (uint32_t& start : starts) start += base;
  }
  __syncthreads();
  return starts[warp] + __popc(flags & ((1u << lane) - 1));
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_WRITE_BATCH_CUH_
