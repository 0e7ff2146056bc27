// Finds the index entries, not only the rows, of a warp's keys: device side.
// For writers, who own the index of their shard.
#ifndef GATHERD_CORE_KERNELS_FIND_ENTRY_CUH_
#define GATHERD_CORE_KERNELS_FIND_ENTRY_CUH_

#include "core/kernels/find_hashed.cuh"
#include "core/kernels/write_batch.h"

namespace gatherd::kernels {

struct FoundEntry {
  uint32_t place;  // in the shard's index; kAbsentPlace
  uint32_t row;
};

// One key by one thread, in one bucket.
__device__ __forceinline__ uint32_t FindInBucket(const IndexEntry* shard,
                                                 uint32_t bucket, int64_t key,
                                                 uint32_t state) {
  const uint32_t base = bucket * kEntriesPerBucket;
  for (int i = 0; i < kEntriesPerBucket; i++) {
    const IndexEntry e = LoadEntry(shard + base + i);
    if (e.key == key && (e.meta & kStateMask) == state) return base + i;
  }
  return kAbsentPlace;
}

// Looks in the second buckets for the keys of the lanes in `todo`, four a step.
__device__ __noinline__ inline FoundEntry FindEntriesInSecond(
    const IndexEntry* shard, int64_t key, uint32_t second, unsigned todo,
    FoundEntry found, unsigned lane) {
  while (todo != 0) {
    unsigned rest = todo;
    for (unsigned g = 0; g < lane / 8; g++) rest &= rest - 1;
    const unsigned from = rest != 0 ? __ffs(rest) - 1 : 0;
    const uint32_t bucket = __shfl_sync(kFullWarp, second, from);
    const int64_t k = __shfl_sync(kFullWarp, key, from);
    const IndexEntry entry = LoadEntry(
        shard + static_cast<uint64_t>(bucket) * kEntriesPerBucket + (lane & 7));
    const BucketRead read = Examine(entry, k, rest != 0, lane);
#pragma unroll
    for (unsigned g = 0; g < 4; g++) {
      const unsigned hits = (read.hits >> (8 * g)) & 255;
      const unsigned target = __shfl_sync(kFullWarp, from, 8 * g);
      const unsigned at = hits != 0 ? __ffs(hits) - 1 : 0;
      const uint32_t row = __shfl_sync(kFullWarp, read.row, at + 8 * g);
      if (hits != 0 && lane == target) {
        found = {second * kEntriesPerBucket + at, row};
      }
    }
    for (int g = 0; g < 4; g++) todo &= todo - 1;
  }
  return found;
}

// One key a lane, those of `wanted` lanes only. All lanes of the warp call.
__device__ __forceinline__ FoundEntry FindEntries(const TableRef& t,
                                                  const IndexEntry* shard,
                                                  int64_t key, bool wanted,
                                                  unsigned lane) {
  const KeyPlace place = PlaceOf(key, t);
  const unsigned wanted_lanes = __ballot_sync(kFullWarp, wanted);
  FoundEntry found = {kAbsentPlace, 0};
  bool again = false;
  IndexEntry entries[8];
#pragma unroll
  for (int r = 0; r < 8; r++) {
    const unsigned from = r * 4 + lane / 8;
    const uint32_t bucket = __shfl_sync(kFullWarp, place.first, from);
    entries[r] = {0, 0, kEmpty};
    if ((wanted_lanes >> from) & 1) {
      entries[r] =
          LoadEntry(shard + static_cast<uint64_t>(bucket) * kEntriesPerBucket +
                    (lane & 7));
    }
  }
#pragma unroll
  for (int r = 0; r < 8; r++) {
    const int64_t k = __shfl_sync(kFullWarp, key, r * 4 + lane / 8);
    const BucketRead read = Examine(entries[r], k, true, lane);
    const unsigned g = lane & 3;
    const unsigned hits = (read.hits >> (8 * g)) & 255;
    const unsigned at = hits != 0 ? __ffs(hits) - 1 : 0;
    const uint32_t row = __shfl_sync(kFullWarp, read.row, at + 8 * g);
    if (lane / 4 == static_cast<unsigned>(r)) {
      if (hits != 0) found = {place.first * kEntriesPerBucket + at, row};
      again = hits == 0 && ((read.overflows >> (8 * g)) & 1) != 0;
    }
  }
  const unsigned todo = __ballot_sync(kFullWarp, again && wanted);
  if (todo != 0) {
    found = FindEntriesInSecond(shard, key, place.second, todo, found, lane);
  }
  return found;
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_FIND_ENTRY_CUH_
