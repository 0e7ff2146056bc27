// Which of a block's keys its GPU's shard owns: device side.
#ifndef GATHERD_CORE_KERNELS_OWNED_LIST_CUH_
#define GATHERD_CORE_KERNELS_OWNED_LIST_CUH_

#include "core/kernels/lookup_rows_hashed.cuh"

namespace gatherd::kernels {

struct OwnedCounts {
  unsigned num_owned;  // listed, or so far
  unsigned num_missing;
};

// The listed keys of a block: of each its number among the block's, and where
// its row is, for which in a hashed table the key stands until it is found.
struct OwnedList {
  union What {
    const char* row;
    int64_t key;
  };
  static_assert(sizeof(What) == 8);
  static constexpr uint32_t kBytesPerKey = sizeof(What) + sizeof(uint16_t);

  What* const what;
  uint16_t* const places;
  OwnedCounts* const counts;

  // Lists the calling lanes' keys, if `mine`; `place` is the lane's. All lanes
  // of the warp call.
  __device__ __forceinline__ void Add(bool mine, What entry, uint32_t place,
                                      unsigned lane) const {
    const unsigned listed = __ballot_sync(kFullWarp, mine);
    unsigned at = 0;
    if (lane == 0 && listed != 0) {
      at = atomicAdd(&counts->num_owned, __popc(listed));
    }
    at = __shfl_sync(kFullWarp, at, 0) + __popc(listed & ((1u << lane) - 1));
    if (!mine) return;
    what[at] = entry;
    places[at] = static_cast<uint16_t>(place);
  }
};

// Lists those of a block's `count` keys, from `first` on, that `shard` owns,
// and notes those that a dense table has not got. All threads call; a barrier
// must follow.
template <bool kHashed>
__device__ __forceinline__ void ListOwned(const LookupSegment& s, int32_t shard,
                                          uint32_t first, uint32_t count,
                                          const OwnedList& list) {
  constexpr uint32_t kInFlight = 4;  // keys a thread
  const unsigned lane = threadIdx.x % kWarpSize;
  const TableRef& t = s.table;
  const bool hashed = kHashed && t.index != nullptr;
  for (uint32_t start = 0; start < count; start += kInFlight * kBlockThreads) {
    int64_t keys[kInFlight];
#pragma unroll
    for (uint32_t u = 0; u < kInFlight; u++) {
      const uint32_t i = start + u * kBlockThreads + threadIdx.x;
      keys[u] = i < count ? __ldg(s.keys + first + i) : 0;
    }
    if (start == 0) {
      if (threadIdx.x == 0) *list.counts = {0, 0};
      __syncthreads();
    }
#pragma unroll
    for (uint32_t u = 0; u < kInFlight; u++) {
      const uint32_t i = start + u * kBlockThreads + threadIdx.x;
      if (i - lane >= count) break;  // the same for the warp
      OwnedList::What entry;
      bool mine = i < count;
      if (hashed) {
        mine = mine && static_cast<int32_t>(PlaceOf(keys[u], t).shard) == shard;
        entry.key = keys[u];
      } else {
        const RowPlace place = FindDense(t, keys[u]);
        const bool found = place.shard != kNoShard;
        mine = mine && (found ? place.shard : 0) == shard;
        entry.row = place.row;
        const bool missing = mine && !found;
        NoteMissing(s, missing ? KeyFate::kMissing : KeyFate::kNoKey,
                    first + i - lane, lane);
        const unsigned num_missing = __popc(__ballot_sync(kFullWarp, missing));
        if (lane == 0 && num_missing != 0) {
          atomicAdd(&list.counts->num_missing, num_missing);
        }
      }
      list.Add(mine, entry, i, lane);
    }
  }
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_OWNED_LIST_CUH_
