// The index of a hashed table: from any 64-bit key to its slot.
//
// Buckets of one cache line: five entries and, in the manner of F14 (Bronson
// and Shi, 2019), the count of keys that wanted to stand here but found it
// full and stand in a bucket further on. An entry is a key and the number of
// its slot; slot 0 makes it an empty one, whatever its key. So a lookup reads
// nothing of a row but the row.
//
// A search begins at the bucket that the hash names and goes on to the next
// ones until it finds the key or a bucket that nobody had to pass. Entries
// never move and the buckets never grow, so neither a search nor a writer ever
// waits for a reorganisation: at 0.7 of capacity a key is found in the first
// bucket more than nine times in ten, and there is always an empty entry
// somewhere.
//
// Lookups beside the writer:
// - An entry is published by its slot number (release), after its key has been
//   written, its slot been filled and the counts on its way been raised; a
//   search that begins later finds it, one that runs meanwhile may or may not.
// - A new value of an existing key is one store to its entry: it is found
//   before, during and after.
// - Removal stores slot 0 and then lowers the counts on its way. Counts belong
//   to keys, so no other key gets lost.
// - Key and slot are two words, and the entry may go from one key to another
//   between the loads of them. So a search loads the slot, then the key, then
//   the slot again, and takes the two if the slots are equal. For slot 0 is
//   stored between the old slot and a new key: who has seen the new key sees
//   the old slot no more. Nor can it have come back: while a lookup that has
//   seen a slot stays in the epoch domain, the slot is not used again.
//
// The hash has a secret seed, drawn for each table: clients cannot choose keys
// that collide.
#ifndef GATHERD_CORE_TABLE_HASHED_INDEX_H_
#define GATHERD_CORE_TABLE_HASHED_INDEX_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/base/hash.h"
#include "core/table/host_memory.h"
#include "core/table/row_arena.h"
#include "core/table/slot_index.h"

namespace gatherd {

class HashedIndex final : public SlotIndex {
 public:
  static uint64_t NumBuckets(uint64_t rows);
  static uint64_t NumBytes(uint64_t rows);

  // `memory` is zeroed and has NumBytes(rows).
  HashedIndex(uint64_t rows, uint64_t seed, HostMemory memory);

  // The steps of a lookup: see SlotIndex.
  struct Search {
    int64_t key;
    uint64_t home;  // number of its first bucket
    uint32_t slot;
  };
  void Begin(int64_t key, Search* search) const {
    search->key = key;
    search->home = HomeBucket(key);
    __builtin_prefetch(&buckets_[search->home]);
  }
  void FindFirst(Search* search) const {
    const Bucket& bucket = buckets_[search->home];
    search->slot = FirstSlotIn(bucket, search->key);
    // Of a key that is found this is the line at hand: no branch.
    __builtin_prefetch(search->slot != RowArena::kDefaultSlot
                           ? &bucket
                           : &buckets_[NextBucket(search->home)]);
  }
  void FindRest(Search* search) const {
    if (search->slot == RowArena::kDefaultSlot) FindFurther(search);
  }
  bool Exists(const Search& search) const {
    return search.slot != RowArena::kDefaultSlot;
  }

  void Prefetch(KeyGroup& group) const override;
  void Find(KeyGroup& group) const override;
  bool Accepts(int64_t) const override { return true; }
  uint32_t SlotOf(int64_t key) const override;
  uint32_t Put(int64_t key, uint32_t slot) override;
  uint32_t Remove(int64_t key) override;
  size_t List(uint64_t* cursor, absl::Span<int64_t> keys,
              absl::Span<uint32_t> slots) const override;
  void PrefetchList(uint64_t cursor, size_t num_rows) const override;
  uint64_t list_end() const override { return num_buckets_; }
  uint64_t num_bytes() const override { return memory_.num_bytes(); }

 private:
  static constexpr int kEntries = 5;
  static_assert(kEntries <= kMinListRoom);

  struct alignas(64) Bucket {
    std::atomic<int64_t> keys[kEntries];
    std::atomic<uint32_t> slots[kEntries];
    std::atomic<uint32_t> num_passed;
  };
  static_assert(sizeof(Bucket) == 64);

  // Where a key stands; slot is nullptr if it does not.
  struct Place {
    std::atomic<uint32_t>* slot = nullptr;
    uint64_t bucket = 0;
  };

  uint64_t HomeBucket(int64_t key) const {
    return ((MixKey(key, seed_) >> 32) * num_buckets_) >> 32;
  }
  uint64_t NextBucket(uint64_t bucket) const {
    return bucket + 1 == num_buckets_ ? 0 : bucket + 1;
  }
  // The slot of the first entry of `bucket` that has `key`; 0: none has, or it
  // is empty or being written.
  static uint32_t FirstSlotIn(const Bucket& bucket, int64_t key);
  static uint32_t MatchesIn(const Bucket& bucket, int64_t key);
  // The slot of any such entry; 0: there is none.
  static uint32_t SlotIn(const Bucket& bucket, int64_t key);
  // The slot of entry `i`; 0: it is empty, or not that of `key`.
  static uint32_t SlotOfEntry(const Bucket& bucket, int i, int64_t key);
  // Whether a key that was to stand here stands further on.
  static bool WasPassed(const Bucket& bucket) {
    return bucket.num_passed.load(std::memory_order_acquire) != 0;
  }
  static void AddPassed(Bucket& bucket, int32_t difference);

  // Looks in the buckets behind the home bucket.
  void FindFurther(Search* search) const;
  // For the writer, beside whom nothing changes.
  Place Locate(int64_t key) const;
  void Insert(int64_t key, uint32_t slot);

  const uint64_t num_buckets_;
  const uint64_t seed_;
  const HostMemory memory_;
  Bucket* const buckets_;
};

// All keys are compared, and no branch taken: which entry it is cannot be
// predicted, nor whether it is one of this bucket, and each wrong guess spoils
// the guesses about other branches, too.
inline uint32_t HashedIndex::FirstSlotIn(const Bucket& bucket, int64_t key) {
  const uint32_t matches = MatchesIn(bucket, key);
  const int i = matches == 0 ? 0 : __builtin_ctz(matches);
  const uint32_t slot = bucket.slots[i].load(std::memory_order_acquire);
  const int64_t its_key = bucket.keys[i].load(std::memory_order_acquire);
  const uint32_t again = bucket.slots[i].load(std::memory_order_relaxed);
  const bool is_right = (its_key == key) & (again == slot);
  return is_right ? slot : RowArena::kDefaultSlot;
}

// Bit i: entry i has, or had just now, this key.
inline uint32_t HashedIndex::MatchesIn(const Bucket& bucket, int64_t key) {
  const auto match = [&](int i) {
    // Relaxed: whoever uses an entry loads its key again.
    return uint32_t{bucket.keys[i].load(std::memory_order_relaxed) == key} << i;
  };
  // Written out: GCC does not unroll at -O2.
  static_assert(kEntries == 5);
  return match(0) | match(1) | match(2) | match(3) | match(4);
}

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_HASHED_INDEX_H_
