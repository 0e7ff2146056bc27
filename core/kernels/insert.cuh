// Placing keys in the index of a hashed table: device side. Any number of
// threads of one kernel may place different keys of one shard at once, beside
// any number of readers; two kernels may not write one shard at the same time.
#ifndef GATHERD_CORE_KERNELS_INSERT_CUH_
#define GATHERD_CORE_KERNELS_INSERT_CUH_

#include "core/kernels/index.cuh"

namespace gatherd::kernels {

__device__ __forceinline__ bool SameEntry(const IndexEntry& a,
                                          const IndexEntry& b) {
  return a.key == b.key && a.row == b.row && a.meta == b.meta;
}

// What `place` shall hold instead of `old`, whose overflow count stays.
__device__ __forceinline__ IndexEntry Replacing(const IndexEntry& old,
                                                int64_t key, uint32_t row,
                                                uint32_t state) {
  return {key, row, (old.meta & ~kStateMask) | state};
}

__device__ __forceinline__ bool Swap(IndexEntry* p, const IndexEntry& expected,
                                     const IndexEntry& desired) {
  return SameEntry(CompareAndSwapEntry(p, expected, desired), expected);
}

// Takes an empty place of a bucket. Null if it has none.
__device__ inline IndexEntry* TakePlace(IndexEntry* bucket, int64_t key,
                                        uint32_t row, uint32_t state) {
  for (int i = 0; i < kEntriesPerBucket; i++) {
    IndexEntry e = LoadEntry(bucket + i);
    while ((e.meta & kStateMask) == kEmpty) {
      const IndexEntry now =
          CompareAndSwapEntry(bucket + i, e, Replacing(e, key, row, state));
      if (SameEntry(now, e)) return bucket + i;
      e = now;  // another took it, or counted an overflow in it
    }
  }
  return nullptr;
}

__device__ inline void AddOverflow(IndexEntry* bucket, int delta) {
  IndexEntry e = LoadEntry(bucket);
  for (;;) {
    IndexEntry next = e;
    next.meta += static_cast<uint32_t>(delta) << kOverflowShift;
    const IndexEntry now = CompareAndSwapEntry(bucket, e, next);
    if (SameEntry(now, e)) return;
    e = now;
  }
}

// Moves one entry of `bucket` that has this as its first bucket to its second,
// and puts the key in its place. Null if no such entry's second has room.
__device__ inline IndexEntry* DisplaceOne(const TableRef& t, IndexEntry* shard,
                                          IndexEntry* bucket, int64_t key,
                                          uint32_t row, uint32_t state) {
  for (int i = 0; i < kEntriesPerBucket; i++) {
    const IndexEntry e = LoadEntry(bucket + i);
    if ((e.meta & kStateMask) != kValid) continue;
    const KeyPlace place = PlaceOf(e.key, t);
    if (shard + uint64_t{place.first} * kEntriesPerBucket != bucket) continue;
    IndexEntry* copy =
        TakePlace(shard + uint64_t{place.second} * kEntriesPerBucket, e.key,
                  e.row, kValid);
    if (copy == nullptr) continue;
    AddOverflow(bucket, 1);
    FenceAcquireRelease();
    // The count may have changed this very entry (i == 0).
    IndexEntry expected = LoadEntry(bucket + i);
    while (expected.key == e.key && expected.row == e.row &&
           (expected.meta & kStateMask) == kValid) {
      const IndexEntry now = CompareAndSwapEntry(
          bucket + i, expected, Replacing(expected, key, row, state));
      if (SameEntry(now, expected)) return bucket + i;
      expected = now;
    }
    // Somebody else moved it first: take the copy back.
    IndexEntry c = LoadEntry(copy);
    while (!Swap(copy, c, Replacing(c, 0, 0, kEmpty))) c = LoadEntry(copy);
    AddOverflow(bucket, -1);
  }
  return nullptr;
}

// Puts an absent key somewhere. Null if neither bucket has or gets a place.
__device__ inline IndexEntry* InsertKey(const TableRef& t, IndexEntry* shard,
                                        const KeyPlace& place, int64_t key,
                                        uint32_t row, uint32_t state) {
  IndexEntry* first = shard + uint64_t{place.first} * kEntriesPerBucket;
  IndexEntry* second = shard + uint64_t{place.second} * kEntriesPerBucket;
  if (IndexEntry* e = TakePlace(first, key, row, state)) return e;
  AddOverflow(first, 1);  // before anybody can miss it in `first`
  FenceAcquireRelease();
  if (IndexEntry* e = TakePlace(second, key, row, state)) return e;
  if (IndexEntry* e = DisplaceOne(t, shard, second, key, row, state)) return e;
  AddOverflow(first, -1);
  return DisplaceOne(t, shard, first, key, row, state);
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_INSERT_CUH_
