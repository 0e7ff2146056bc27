// Placing keys in the index of a hashed table: device side. Any number of
// threads of one kernel may place different keys of one shard at once, beside
// any number of readers; two kernels may not write one shard at the same time.
#ifndef GATHERD_CORE_KERNELS_INSERT_CUH_
#define GATHERD_CORE_KERNELS_INSERT_CUH_

#include "core/kernels/key_place.h"
#include "core/kernels/memory_order.cuh"

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

// Empties a place; a bucket's overflow count stays.
__device__ inline void ClearEntry(IndexEntry* p) {
  IndexEntry e = LoadEntry(p);
  for (;;) {
    const IndexEntry now =
        CompareAndSwapEntry(p, e, Replacing(e, 0, 0, kEmpty));
    if (SameEntry(now, e)) return;
    e = now;
  }
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
// and puts the key in its place. Up to kMoves - 1 further entries may have to
// move to make room there. Null if no such chain ends at an empty place.
// Entries that are not to be seen yet move, too: whoever put them there looks
// for them in both places.
template <int kMoves>
__device__ __noinline__ IndexEntry* Displace(const TableRef& t,
                                             IndexEntry* shard,
                                             IndexEntry* bucket, int64_t key,
                                             uint32_t row, uint32_t state) {
  for (int i = 0; i < kEntriesPerBucket; i++) {
    const IndexEntry e = LoadEntry(bucket + i);
    const uint32_t e_state = e.meta & kStateMask;
    if (e_state == kEmpty) continue;
    const KeyPlace place = PlaceOf(e.key, t);
    if (shard + uint64_t{place.first} * kEntriesPerBucket != bucket) continue;
    IndexEntry* second = shard + uint64_t{place.second} * kEntriesPerBucket;
    if (second == bucket) continue;  // the table has one bucket
    IndexEntry* copy = TakePlace(second, e.key, e.row, e_state);
    if constexpr (kMoves > 1) {
      if (copy == nullptr) {
        copy = Displace<kMoves - 1>(t, shard, second, e.key, e.row, e_state);
      }
    }
    if (copy == nullptr) continue;
    AddOverflow(bucket, 1);
    FenceAcquireRelease();
    // The count may have changed this very entry (i == 0).
    IndexEntry expected = LoadEntry(bucket + i);
    while (expected.key == e.key && expected.row == e.row &&
           (expected.meta & kStateMask) == e_state) {
      const IndexEntry now = CompareAndSwapEntry(
          bucket + i, expected, Replacing(expected, key, row, state));
      if (SameEntry(now, expected)) return bucket + i;
      expected = now;
    }
    // Somebody else moved it first: take the copy back.
    ClearEntry(copy);
    AddOverflow(bucket, -1);
  }
  return nullptr;
}

// Entries that may move to make room for one key. One fails once in 10^4 keys
// at load 0.9.
inline constexpr int kMaxMoves = 4;

// Puts an absent key somewhere. Null if no place was found.
__device__ inline IndexEntry* InsertKey(const TableRef& t, IndexEntry* shard,
                                        const KeyPlace& place, int64_t key,
                                        uint32_t row, uint32_t state) {
  IndexEntry* first = shard + uint64_t{place.first} * kEntriesPerBucket;
  IndexEntry* second = shard + uint64_t{place.second} * kEntriesPerBucket;
  if (IndexEntry* e = TakePlace(first, key, row, state)) return e;
  if (second == first) return nullptr;
  AddOverflow(first, 1);  // before anybody can miss it in `first`
  FenceAcquireRelease();
  if (IndexEntry* e = TakePlace(second, key, row, state)) return e;
  if (IndexEntry* e = Displace<1>(t, shard, second, key, row, state)) return e;
  AddOverflow(first, -1);
  if (IndexEntry* e = Displace<1>(t, shard, first, key, row, state)) return e;
  if (IndexEntry* e = Displace<kMaxMoves>(t, shard, first, key, row, state)) {
    return e;
  }
  AddOverflow(first, 1);
  FenceAcquireRelease();
  if (IndexEntry* e = Displace<kMaxMoves>(t, shard, second, key, row, state)) {
    return e;
  }
  AddOverflow(first, -1);
  return nullptr;
}

// After an entry of a key that stood in its second bucket has been emptied,
// the first bucket counts it no more.
__device__ inline void ForgetOverflow(IndexEntry* shard, IndexEntry* entry,
                                      const KeyPlace& place) {
  IndexEntry* first = shard + uint64_t{place.first} * kEntriesPerBucket;
  const bool in_first = entry >= first && entry < first + kEntriesPerBucket;
  if (!in_first) AddOverflow(first, -1);
}

// Empties the entry of a key, wherever it stands.
__device__ inline void RemoveKey(IndexEntry* shard, IndexEntry* entry,
                                 const KeyPlace& place) {
  ClearEntry(entry);
  ForgetOverflow(shard, entry, place);
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_INSERT_CUH_
