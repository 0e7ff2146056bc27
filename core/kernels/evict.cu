// Choosing and removing the rows that make room.
//
// Small shards: one block of 1024 threads, two places of the index a thread,
// ranks by comparing all with all in shared memory.
//
// Large ones: a warp a row. Its lanes read four buckets drawn at random, one
// entry a lane, and the stamps of their rows: 4 lines of 128 bytes and some 28
// random sectors of 32 for each row that goes. What they are refused, because
// other warps were faster or all was the batch's own, a pass over the index
// makes up for. Bound by random reads of HBM.
#include "core/kernels/evict.h"

#include <algorithm>

#include "core/kernels/insert.cuh"
#include "core/kernels/stamp.h"
#include "core/kernels/write_batch.cuh"

namespace gatherd::kernels {
namespace {

constexpr int kExactThreads = 1024;
constexpr uint32_t kMaxDraws = 8;
constexpr uint32_t kMaxSweepBlocks = 264;

uint32_t NumPlaces(const WriteBatch& b) {
  return b.table.num_buckets * kEntriesPerBucket;
}

// Sets or clears kProtected in the entries of the batch's keys. Nobody else
// writes these entries meanwhile.
__global__ void __launch_bounds__(kWriteThreads)
    ProtectKernel(const __grid_constant__ WriteBatch batch, uint32_t bit) {
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  if (i >= batch.num_keys) return;
  const WriteTarget target = batch.workspace.targets[i];
  if (target.place == kNoPlace) return;
  IndexEntry* entry = ShardIndex(batch) + target.place;
  IndexEntry e = LoadEntry(entry);
  e.meta = (e.meta & ~kProtected) | bit;
  StoreEntry(entry, e);
}

__device__ __forceinline__ bool MayGo(const IndexEntry& e) {
  return (e.meta & (kStateMask | kProtected)) == kValid;
}

// Empties an entry, unless somebody else has.
__device__ __forceinline__ bool TryRemove(const WriteBatch& batch,
                                          IndexEntry* entry,
                                          const IndexEntry& seen) {
  IndexEntry e = LoadEntry(entry);
  for (;;) {
    if (e.key != seen.key || e.row != seen.row || !MayGo(e)) return false;
    const IndexEntry now =
        CompareAndSwapEntry(entry, e, Replacing(e, 0, 0, kEmpty));
    if (SameEntry(now, e)) break;
    e = now;  // an overflow was counted in it
  }
  ForgetOverflow(ShardIndex(batch), entry, PlaceOf(seen.key, batch.table));
  ShardStamps(batch)[seen.row] = 0;
  return true;
}

__device__ __forceinline__ uint32_t ColdnessOf(const WriteBatch& batch,
                                               const IndexEntry& e) {
  return Coldness(ShardStamps(batch)[e.row], batch.table.now);
}

__global__ void __launch_bounds__(kExactThreads)
    EvictColdestKernel(const __grid_constant__ WriteBatch batch,
                       const EvictionRequest request, uint32_t num_places) {
  constexpr int kEach = kExactPlaces / kExactThreads;
  // In the order of leaving: coldness downwards, then rows upwards.
  constexpr uint64_t kStays = ~uint64_t{0};
  __shared__ uint64_t orders[kExactPlaces];
  IndexEntry* index = ShardIndex(batch);
  IndexEntry entries[kEach];
  uint64_t mine[kEach];
  uint32_t num_candidates = 0;
  for (int k = 0; k < kEach; k++) {
    const uint32_t place = k * kExactThreads + threadIdx.x;
    entries[k] = {0, 0, kEmpty};
    if (place < num_places) entries[k] = LoadEntry(index + place);
    const bool may_go = MayGo(entries[k]);
    mine[k] = kStays;
    if (may_go) {
      mine[k] = static_cast<uint64_t>(~ColdnessOf(batch, entries[k])) << 32 |
                entries[k].row;
    }
    orders[place] = mine[k];
    num_candidates += __syncthreads_count(may_go);
  }
  uint32_t ranks[kEach] = {};
  for (uint32_t i = 0; i < num_places; i++) {
    const uint64_t other = orders[i];
    for (int k = 0; k < kEach; k++) ranks[k] += other < mine[k];
  }
  for (int k = 0; k < kEach; k++) {
    if (mine[k] == kStays || ranks[k] >= request.num_rows) continue;
    TryRemove(batch, index + k * kExactThreads + threadIdx.x, entries[k]);
    request.retired[ranks[k]] = entries[k].row;
  }
  if (threadIdx.x == 0) {
    *request.num_evicted = min(num_candidates, request.num_rows);
  }
}

// One draw by a warp. True if a row has gone.
__device__ __forceinline__ bool EvictOneOfDraw(const WriteBatch& batch,
                                               const EvictionRequest& request,
                                               uint64_t draw, unsigned lane) {
  const uint64_t random = MixKey(
      static_cast<int64_t>(draw * 4 + lane / kEntriesPerBucket), request.seed);
  const uint32_t bucket =
      ScaleTo(static_cast<uint32_t>(random >> 32), batch.table.num_buckets);
  IndexEntry* entry = ShardIndex(batch) + uint64_t{bucket} * kEntriesPerBucket +
                      lane % kEntriesPerBucket;
  const IndexEntry e = LoadEntry(entry);
  bool may_go = MayGo(e);
  const uint32_t coldness = may_go ? ColdnessOf(batch, e) : 0;
  // The first choice is nearly always there.
  while (__any_sync(kFullWarp, may_go)) {
    const uint32_t coldest =
        __reduce_max_sync(kFullWarp, may_go ? coldness : 0);
    const unsigned best =
        __ballot_sync(kFullWarp, may_go && coldness == coldest);
    const bool chosen = lane + 1 == __ffs(best);
    const bool gone = chosen && TryRemove(batch, entry, e);
    if (gone) request.retired[atomicAdd(request.num_evicted, 1u)] = e.row;
    if (__any_sync(kFullWarp, gone)) return true;
    if (chosen) may_go = false;
  }
  return false;
}

__global__ void __launch_bounds__(kWriteThreads)
    EvictSampledKernel(const __grid_constant__ WriteBatch batch,
                       const EvictionRequest request) {
  const unsigned lane = threadIdx.x % kWarpSize;
  const uint64_t number =
      (uint64_t{blockIdx.x} * kWriteThreads + threadIdx.x) / kWarpSize;
  if (number >= request.num_rows) return;
  for (uint32_t i = 0; i < kMaxDraws; i++) {
    const uint64_t draw = number * kMaxDraws + i;
    if (EvictOneOfDraw(batch, request, draw, lane)) return;
  }
}

// Counts one more row, unless that makes too many; its number in `*at`.
__device__ __forceinline__ bool TakeNumber(const EvictionRequest& request,
                                           uint32_t* at) {
  uint32_t count = *const_cast<volatile uint32_t*>(request.num_evicted);
  while (count < request.num_rows) {
    const uint32_t held = atomicCAS(request.num_evicted, count, count + 1);
    if (held == count) {
      *at = count;
      return true;
    }
    count = held;
  }
  return false;
}

// What is still to go, whatever it is.
__global__ void __launch_bounds__(kWriteThreads)
    EvictNextKernel(const __grid_constant__ WriteBatch batch,
                    const EvictionRequest request, uint32_t num_places) {
  IndexEntry* index = ShardIndex(batch);
  const uint32_t start =
      ScaleTo(static_cast<uint32_t>(MixKey(0, request.seed)), num_places);
  const uint64_t step = uint64_t{gridDim.x} * kWriteThreads;
  for (uint64_t i = blockIdx.x * kWriteThreads + threadIdx.x; i < num_places;
       i += step) {
    if (*const_cast<volatile uint32_t*>(request.num_evicted) >=
        request.num_rows) {
      return;
    }
    const uint32_t place = static_cast<uint32_t>((start + i) % num_places);
    const IndexEntry e = LoadEntry(index + place);
    uint32_t at;
    if (!MayGo(e) || !TakeNumber(request, &at)) continue;
    TryRemove(batch, index + place, e);  // nobody else tries
    request.retired[at] = e.row;
  }
}

__global__ void __launch_bounds__(kWriteThreads)
    HalveKernel(const __grid_constant__ WriteBatch batch, uint64_t sweep,
                uint32_t count, uint32_t num_places) {
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  if (i >= count) return;
  const IndexEntry e = LoadEntry(ShardIndex(batch) + (sweep + i) % num_places);
  if ((e.meta & kStateMask) != kValid) return;
  volatile uint32_t* stamp = ShardStamps(batch) + e.row;
  *stamp = HalvedStamp(*stamp);
}

void EvictSampled(const WriteBatch& batch, const EvictionRequest& request,
                  cudaStream_t stream) {
  constexpr uint32_t kRowsPerBlock = kWriteThreads / kWarpSize;
  const uint32_t num_places = NumPlaces(batch);
  const uint32_t num_rows = std::min(request.num_rows, num_places);
  const uint32_t num_blocks = (num_rows + kRowsPerBlock - 1) / kRowsPerBlock;
  EvictSampledKernel<<<num_blocks, kWriteThreads, 0, stream>>>(batch, request);
  const uint32_t num_sweep_blocks =
      std::min(WriteBlocks(num_places), kMaxSweepBlocks);
  EvictNextKernel<<<num_sweep_blocks, kWriteThreads, 0, stream>>>(
      batch, request, num_places);
}

}  // namespace

cudaError_t EvictAsync(const WriteBatch& batch, const EvictionRequest& request,
                       cudaStream_t stream) {
  const cudaError_t error =
      cudaMemsetAsync(request.num_evicted, 0, sizeof(uint32_t), stream);
  if (error != cudaSuccess || request.num_rows == 0) return error;
  const uint32_t num_key_blocks = WriteBlocks(batch.num_keys);
  if (batch.num_keys != 0) {
    ProtectKernel<<<num_key_blocks, kWriteThreads, 0, stream>>>(batch,
                                                                kProtected);
  }
  const uint32_t num_places = NumPlaces(batch);
  if (num_places <= kExactPlaces) {
    EvictColdestKernel<<<1, kExactThreads, 0, stream>>>(batch, request,
                                                        num_places);
  } else {
    EvictSampled(batch, request, stream);
  }
  if (batch.table.now == 0) {
    const uint32_t count = std::min(request.num_rows, num_places);
    HalveKernel<<<WriteBlocks(count), kWriteThreads, 0, stream>>>(
        batch, request.sweep, count, num_places);
  }
  if (batch.num_keys != 0) {
    ProtectKernel<<<num_key_blocks, kWriteThreads, 0, stream>>>(batch, 0);
  }
  return cudaGetLastError();
}

}  // namespace gatherd::kernels
