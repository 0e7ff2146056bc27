// Finding rows of hashed tables: device side. A warp looks for 8, 16 or 32 keys
// at once.
#ifndef GATHERD_CORE_KERNELS_FIND_HASHED_CUH_
#define GATHERD_CORE_KERNELS_FIND_HASHED_CUH_

#include "core/kernels/lookup.cuh"

namespace gatherd::kernels {

// One step of a search by a warp: group g of eight lanes reads the bucket of
// lane `from` (the same for the group) and tells, on every lane, what it
// found: the entry's lane in `source` and whether there was one.
struct BucketRead {
  unsigned hits;       // ballot: lanes whose entry is the key's
  unsigned overflows;  // ballot: lanes 0, 8, 16, 24 whose bucket overflowed
  uint32_t row;        // of this lane's entry
};

__device__ __forceinline__ BucketRead Examine(const IndexEntry& entry,
                                              int64_t key, bool wanted,
                                              unsigned lane) {
  const bool hit =
      wanted && entry.key == key && (entry.meta & kStateMask) == kValid;
  BucketRead read;
  read.hits = __ballot_sync(kFullWarp, hit);
  read.overflows = __ballot_sync(
      kFullWarp, (lane & 7) == 0 && (entry.meta >> kOverflowShift) != 0);
  read.row = entry.row;
  return read;
}

// What a lane knows of its key once the first buckets were looked at.
struct FirstLook {
  KeyPlace place;
  uint64_t index;      // address of the shard's
  uint32_t found = 0;  // row + 1
  bool again = false;  // it may be in its second bucket
};

// Whose keys are looked for: any, or those of the one shard that this GPU has.
// The latter need no fence that reaches other GPUs; and as a warp may have
// fewer keys than lanes, the buckets of none are left out, which costs 4 %
// where there are no such lanes.
enum class Reach { kNode, kShard };

template <Reach kReach>
__device__ __forceinline__ void FenceFind(const TableRef& t) {
  if (kReach == Reach::kShard) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  } else {
    FenceTable(t);
  }
}

// Looks in the first buckets of a warp's keys, one a lane (`wanted`): eight
// lanes a bucket, four buckets a step, all kSteps * 4 buckets in flight. Keys
// stand in the first of the first kSteps * 4 lanes. All lanes of the warp must
// call.
template <int kSteps, Reach kReach>
__device__ __forceinline__ FirstLook LookInFirst(const TableRef& t, int64_t key,
                                                 bool wanted, unsigned lane) {
  const unsigned num_wanted = kReach == Reach::kNode
                                  ? kWarpSize
                                  : __popc(__ballot_sync(kFullWarp, wanted));
  FirstLook look;
  look.place = PlaceOf(key, t);
  look.index = reinterpret_cast<uint64_t>(t.index) +
               look.place.shard * t.index_shard_bytes;
  IndexEntry entries[kSteps];
#pragma unroll
  for (int r = 0; r < kSteps; r++) {
    const unsigned from = r * 4 + lane / 8;
    const uint64_t base = __shfl_sync(kFullWarp, look.index, from);
    const uint32_t bucket = __shfl_sync(kFullWarp, look.place.first, from);
    if (kReach == Reach::kShard) entries[r] = {0, 0, kEmpty};
    if (kReach == Reach::kNode || from < num_wanted) {
      entries[r] = LoadEntry(reinterpret_cast<const IndexEntry*>(base) +
                             static_cast<uint64_t>(bucket) * kEntriesPerBucket +
                             (lane & 7));
    }
  }
#pragma unroll
  for (int r = 0; r < kSteps; r++) {
    const int64_t k = __shfl_sync(kFullWarp, key, r * 4 + lane / 8);
    const BucketRead read = Examine(entries[r], k, true, lane);
    // Lanes 4r ... 4r+3 asked; lane 4r+g is answered by lanes 8g ... 8g+7.
    const unsigned g = lane & 3;
    const unsigned hits = (read.hits >> (8 * g)) & 255;
    const unsigned source = hits != 0 ? __ffs(hits) - 1 + 8 * g : 0;
    const uint32_t row = __shfl_sync(kFullWarp, read.row, source);
    if (lane / 4 == static_cast<unsigned>(r)) {
      look.found = hits != 0 ? row + 1 : 0;
      look.again = hits == 0 && ((read.overflows >> (8 * g)) & 1) != 0;
    }
  }
  return look;
}

// A look in the second buckets of the first kSteps * 4 of the lanes in `todo`:
// on its way from when it is made until it is finished. All lanes of the warp
// must call. A fence parts it from the first look: an entry that moved on
// between the two would be missed in both.
template <int kSteps>
class SecondLook {
 public:
  __device__ __forceinline__ SecondLook(uint64_t index, uint32_t second,
                                        unsigned todo, unsigned lane)
      : rest_(todo) {
#pragma unroll
    for (int r = 0; r < kSteps; r++) {
      unsigned left = rest_;
      for (unsigned g = 0; g < lane / 8; g++) left &= left - 1;
      from_[r] = left != 0 ? __ffs(left) - 1 : kNoLane;
      const unsigned from = left != 0 ? from_[r] : 0;
      const uint64_t base = __shfl_sync(kFullWarp, index, from);
      const uint32_t bucket = __shfl_sync(kFullWarp, second, from);
      entries_[r] = {0, 0, kEmpty};
      if (left != 0) {
        entries_[r] = LoadEntry(
            reinterpret_cast<const IndexEntry*>(base) +
            static_cast<uint64_t>(bucket) * kEntriesPerBucket + (lane & 7));
      }
#pragma unroll
      for (int g = 0; g < 4; g++) rest_ &= rest_ - 1;
    }
  }

  // The lanes that it leaves for another look.
  __device__ __forceinline__ unsigned rest() const { return rest_; }

  // Returns this lane's row + 1, or `found` as it was.
  __device__ __forceinline__ uint32_t Finish(int64_t key, uint32_t found,
                                             unsigned lane) const {
#pragma unroll
    for (int r = 0; r < kSteps; r++) {
      const bool wanted = from_[r] != kNoLane;
      const int64_t k = __shfl_sync(kFullWarp, key, wanted ? from_[r] : 0);
      const BucketRead read = Examine(entries_[r], k, wanted, lane);
#pragma unroll
      for (unsigned g = 0; g < 4; g++) {
        const unsigned hits = (read.hits >> (8 * g)) & 255;
        const unsigned target = __shfl_sync(kFullWarp, from_[r], 8 * g);
        const unsigned source = hits != 0 ? __ffs(hits) - 1 + 8 * g : 0;
        const uint32_t row = __shfl_sync(kFullWarp, read.row, source);
        if (hits != 0 && lane == target) found = row + 1;
      }
    }
    return found;
  }

 private:
  static constexpr unsigned kNoLane = kWarpSize;

  IndexEntry entries_[kSteps];
  unsigned from_[kSteps];  // whose key this lane's group of eight looks for
  unsigned rest_;
};

// Looks in the second buckets of all lanes in `todo`, four keys a step.
__device__ __noinline__ inline uint32_t FindInSecond(
    uint64_t index, int64_t key, uint32_t second, unsigned todo, uint32_t found,
    unsigned lane) {
  while (todo != 0) {
    const SecondLook<1> look(index, second, todo, lane);
    found = look.Finish(key, found, lane);
    todo = look.rest();
  }
  return found;
}

__device__ __forceinline__ RowPlace HashedRow(const TableRef& t, uint32_t shard,
                                              uint32_t found) {
  if (found == 0) return {t.default_row, kNoShard};
  return {t.rows + shard * t.rows_shard_bytes +
              static_cast<uint64_t>(found - 1) * t.row_stride,
          static_cast<int32_t>(shard), found - 1};
}

// Finds the keys of a warp, one a lane (`wanted`), in a hashed table. Keys
// stand in the first kSteps * 4 lanes. All lanes of the warp must call.
template <int kSteps, Reach kReach>
__device__ __forceinline__ RowPlace FindHashed(const TableRef& t, int64_t key,
                                               bool wanted, unsigned lane) {
  FirstLook look = LookInFirst<kSteps, kReach>(t, key, wanted, lane);
  const unsigned todo = __ballot_sync(kFullWarp, look.again && wanted);
  if (todo != 0) {
    FenceFind<kReach>(t);
    look.found = FindInSecond(look.index, key, look.place.second, todo,
                              look.found, lane);
  }
  // The row may not be read before the entry that names it.
  FenceFind<kReach>(t);
  return HashedRow(t, look.place.shard, look.found);
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_FIND_HASHED_CUH_
