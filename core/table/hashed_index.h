// The index of a hashed table: from any 64-bit key to its slot.
//
// Buckets of one cache line: seven entries and, in the manner of F14 (Bronson
// and Shi, 2019), the count of keys that wanted to stand here but found it
// full and stand in a bucket further on. An entry is one atomic word of a slot
// number and 32 more bits of the key's hash, the tag; 0 is an empty entry. The
// key itself stands in the slot, before the row: an entry says "look there",
// never "this is it".
//
// A search begins at the bucket that the hash names and goes on to the next
// ones until it finds the key or a bucket that nobody had to pass. Entries
// never move and the buckets never grow, so neither a search nor a writer ever
// waits for a reorganisation: at 0.8 of capacity a key is found in the first
// bucket nine times in ten, and there is always an empty entry somewhere.
//
// Lookups beside the writer:
// - An entry is published (release) after its slot has been filled and after
//   the counts on its way have been raised; a search that begins later finds
//   it, one that runs meanwhile may or may not.
// - A new value of an existing key is one store to its entry: it is found
//   before, during and after.
// - Removal empties the entry and then lowers the counts on its way. Counts
//   belong to keys, so no other key gets lost.
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

  // `memory` is zeroed and has NumBytes(rows); `arena` must outlive the index.
  HashedIndex(uint64_t rows, uint64_t seed, HostMemory memory,
              const RowArena& arena);

  // The steps of a lookup: see SlotIndex.
  struct Search {
    int64_t key;
    uint64_t hash;
    uint32_t slot;
  };
  void Begin(int64_t key, Search* search) const {
    search->key = key;
    search->hash = Hash(key);
    __builtin_prefetch(&buckets_[HomeBucket(search->hash)]);
  }
  void FindFirst(Search* search) const {
    const uint64_t number = HomeBucket(search->hash);
    const Bucket& bucket = buckets_[number];
    search->slot = FirstSlotIn(bucket, search->hash);
    // Of a key that is found this is the line at hand: no branch.
    __builtin_prefetch(search->slot != RowArena::kDefaultSlot
                           ? &bucket
                           : &buckets_[NextBucket(number)]);
  }
  void FindRest(Search* search) const {
    if (search->slot == RowArena::kDefaultSlot) FindFurther(search);
  }
  bool Confirm(Search* search) const {
    if (search->slot == RowArena::kDefaultSlot) return false;
    if (arena_.key(search->slot) == search->key) return true;
    // Another key with the same tag.
    search->slot = Locate(search->key, search->hash).slot;
    return search->slot != RowArena::kDefaultSlot;
  }

  void Prefetch(KeyGroup& group) const override;
  void Find(KeyGroup& group) const override;
  void Confirm(KeyGroup& group) const override;
  bool Accepts(int64_t) const override { return true; }
  uint32_t SlotOf(int64_t key) const override;
  uint32_t Put(int64_t key, uint32_t slot) override;
  uint32_t Remove(int64_t key) override;
  size_t List(uint64_t* cursor, absl::Span<int64_t> keys,
              absl::Span<uint32_t> slots) const override;
  uint64_t num_bytes() const override { return memory_.num_bytes(); }

 private:
  static constexpr int kEntries = 7;

  struct alignas(64) Bucket {
    std::atomic<uint64_t> num_passed;
    std::atomic<uint64_t> entries[kEntries];
  };

  // Where a key stands; entry is nullptr if it does not.
  struct Place {
    std::atomic<uint64_t>* entry = nullptr;
    uint64_t bucket = 0;
    uint32_t slot = RowArena::kDefaultSlot;
  };

  static uint32_t EntrySlot(uint64_t entry) {
    return static_cast<uint32_t>(entry >> 32);
  }
  static uint32_t EntryTag(uint64_t entry) {
    return static_cast<uint32_t>(entry);
  }

  uint64_t Hash(int64_t key) const { return MixKey(key, seed_); }
  uint64_t HomeBucket(uint64_t hash) const {
    return ((hash >> 32) * num_buckets_) >> 32;
  }
  uint64_t NextBucket(uint64_t bucket) const {
    return bucket + 1 == num_buckets_ ? 0 : bucket + 1;
  }
  // The slot of the first entry of `bucket` that has the tag of `hash`; 0: none
  // has, or it is empty.
  static uint32_t FirstSlotIn(const Bucket& bucket, uint64_t hash);
  static uint32_t MatchesIn(const Bucket& bucket, uint32_t tag);
  // The slot of any such entry; 0: there is none.
  static uint32_t SlotIn(const Bucket& bucket, uint64_t hash);
  // Whether a key that was to stand here stands further on.
  static bool WasPassed(const Bucket& bucket) {
    return bucket.num_passed.load(std::memory_order_acquire) != 0;
  }
  static void AddPassed(Bucket& bucket, int64_t difference);

  // Looks in the buckets behind the home bucket.
  void FindFurther(Search* search) const;
  // Exact: compares keys, not tags.
  Place Locate(int64_t key, uint64_t hash) const;
  void Insert(uint64_t hash, uint32_t slot);

  const uint64_t num_buckets_;
  const uint64_t seed_;
  const HostMemory memory_;
  const RowArena& arena_;
  Bucket* const buckets_;
};

// All tags are compared, and no branch taken: which entry it is cannot be
// predicted, nor whether it is one of this bucket, and each wrong guess spoils
// the guesses about other branches, too.
inline uint32_t HashedIndex::FirstSlotIn(const Bucket& bucket, uint64_t hash) {
  const uint32_t matches = MatchesIn(bucket, EntryTag(hash));
  const std::atomic<uint64_t>& place =
      bucket.entries[matches == 0 ? 0 : __builtin_ctz(matches)];
  const uint64_t entry = place.load(std::memory_order_acquire);
  return EntryTag(entry) == EntryTag(hash) ? EntrySlot(entry)
                                           : RowArena::kDefaultSlot;
}

// Bit i: entry i has, or had just now, this tag. An empty entry has tag 0.
inline uint32_t HashedIndex::MatchesIn(const Bucket& bucket, uint32_t tag) {
  const auto match = [&](int i) {
    // Relaxed: a slot is read by way of another load alone.
    const uint64_t entry = bucket.entries[i].load(std::memory_order_relaxed);
    return uint32_t{EntryTag(entry) == tag} << i;
  };
  // Written out: GCC does not unroll at -O2, which costs 2 ns a key.
  static_assert(kEntries == 7);
  return match(0) | match(1) | match(2) | match(3) | match(4) | match(5) |
         match(6);
}

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_HASHED_INDEX_H_
