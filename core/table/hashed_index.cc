#include "core/table/hashed_index.h"

#include <algorithm>
#include <utility>

namespace gatherd {
namespace {

// More would save memory (at 0.8 2.3 bytes a row) but lets more keys spill
// over: one in eight instead of one in twelve stands outside of its first
// bucket, and costs a lookup a second miss.
constexpr double kMaxLoad = 0.7;

}  // namespace

uint64_t HashedIndex::NumBuckets(uint64_t rows) {
  return static_cast<uint64_t>(static_cast<double>(rows) /
                               (kMaxLoad * kEntries)) +
         1;
}

uint64_t HashedIndex::NumBytes(uint64_t rows) {
  return NumBuckets(rows) * sizeof(Bucket);
}

HashedIndex::HashedIndex(uint64_t rows, uint64_t seed, HostMemory memory)
    : num_buckets_(NumBuckets(rows)),
      seed_(seed),
      memory_(std::move(memory)),
      buckets_(reinterpret_cast<Bucket*>(memory_.data())) {}

void HashedIndex::Prefetch(KeyGroup& group) const {
  for (size_t i = 0; i < group.keys.size(); ++i) {
    group.places[i] = HomeBucket(group.keys[i]);
    __builtin_prefetch(&buckets_[group.places[i]]);
  }
}

void HashedIndex::Find(KeyGroup& group) const {
  // Keys not found yet, and the buckets where to look next.
  uint32_t keys[KeyGroup::kMaxKeys];
  uint64_t buckets[KeyGroup::kMaxKeys];
  size_t num_left = 0;
  const auto visit = [&](uint32_t i, uint64_t number) {
    const Bucket& bucket = buckets_[number];
    group.slots[i] = SlotIn(bucket, group.keys[i]);
    if (group.slots[i] != RowArena::kDefaultSlot) {
      group.found |= uint32_t{1} << i;
    } else if (WasPassed(bucket)) {
      keys[num_left] = i;
      buckets[num_left] = NextBucket(number);
      __builtin_prefetch(&buckets_[buckets[num_left]]);
      ++num_left;
    }
  };
  group.found = 0;
  for (uint32_t i = 0; i < group.keys.size(); ++i) {
    visit(i, group.places[i]);
  }
  // One bucket of each search a round, so that the misses of those few that
  // go on to a second bucket overlap.
  for (uint64_t round = 1; num_left > 0 && round < num_buckets_; ++round) {
    const size_t num = num_left;
    num_left = 0;
    for (size_t j = 0; j < num; ++j) visit(keys[j], buckets[j]);
  }
}

uint32_t HashedIndex::SlotIn(const Bucket& bucket, int64_t key) {
  uint32_t matches = MatchesIn(bucket, key);
  for (; matches != 0; matches &= matches - 1) {
    const uint32_t slot = SlotOfEntry(bucket, __builtin_ctz(matches), key);
    if (slot != RowArena::kDefaultSlot) return slot;
  }
  return RowArena::kDefaultSlot;
}

uint32_t HashedIndex::SlotOfEntry(const Bucket& bucket, int i, int64_t key) {
  uint32_t slot = bucket.slots[i].load(std::memory_order_acquire);
  while (true) {
    if (bucket.keys[i].load(std::memory_order_acquire) != key) {
      return RowArena::kDefaultSlot;
    }
    const uint32_t again = bucket.slots[i].load(std::memory_order_acquire);
    if (again == slot) return slot;
    slot = again;  // written between the two loads
  }
}

void HashedIndex::FindFurther(Search* search) const {
  uint64_t number = search->home;
  for (uint64_t i = 0; i < num_buckets_; ++i) {
    search->slot = SlotIn(buckets_[number], search->key);
    if (search->slot != RowArena::kDefaultSlot) return;
    if (!WasPassed(buckets_[number])) return;
    number = NextBucket(number);
  }
}

HashedIndex::Place HashedIndex::Locate(int64_t key) const {
  uint64_t number = HomeBucket(key);
  for (uint64_t i = 0; i < num_buckets_; ++i) {
    Bucket& bucket = buckets_[number];
    uint32_t matches = MatchesIn(bucket, key);
    for (; matches != 0; matches &= matches - 1) {
      std::atomic<uint32_t>& slot = bucket.slots[__builtin_ctz(matches)];
      if (slot.load(std::memory_order_relaxed) != RowArena::kDefaultSlot) {
        return {&slot, number};
      }
    }
    if (!WasPassed(bucket)) break;
    number = NextBucket(number);
  }
  return {};
}

uint32_t HashedIndex::SlotOf(int64_t key) const {
  const Place place = Locate(key);
  if (place.slot == nullptr) return RowArena::kDefaultSlot;
  return place.slot->load(std::memory_order_relaxed);
}

uint32_t HashedIndex::Put(int64_t key, uint32_t slot) {
  const Place place = Locate(key);
  if (place.slot == nullptr) {
    Insert(key, slot);
    return RowArena::kDefaultSlot;
  }
  const uint32_t old = place.slot->load(std::memory_order_relaxed);
  place.slot->store(slot, std::memory_order_release);
  return old;
}

void HashedIndex::Insert(int64_t key, uint32_t slot) {
  for (uint64_t number = HomeBucket(key);; number = NextBucket(number)) {
    Bucket& bucket = buckets_[number];
    for (int i = 0; i < kEntries; ++i) {
      if (bucket.slots[i].load(std::memory_order_relaxed) != 0) continue;
      // Release: whoever sees the key sees that the entry has been empty.
      bucket.keys[i].store(key, std::memory_order_release);
      bucket.slots[i].store(slot, std::memory_order_release);
      return;
    }
    // Relaxed: the release of the entry orders it.
    AddPassed(bucket, 1);
  }
}

uint32_t HashedIndex::Remove(int64_t key) {
  const Place place = Locate(key);
  if (place.slot == nullptr) return RowArena::kDefaultSlot;
  const uint32_t old = place.slot->load(std::memory_order_relaxed);
  place.slot->store(RowArena::kDefaultSlot, std::memory_order_release);
  for (uint64_t number = HomeBucket(key); number != place.bucket;
       number = NextBucket(number)) {
    AddPassed(buckets_[number], -1);
  }
  return old;
}

void HashedIndex::AddPassed(Bucket& bucket, int32_t difference) {
  const uint32_t old = bucket.num_passed.load(std::memory_order_relaxed);
  bucket.num_passed.store(old + static_cast<uint32_t>(difference),
                          std::memory_order_release);
}

void HashedIndex::PrefetchList(uint64_t cursor, size_t num_rows) const {
  const auto num_buckets = static_cast<uint64_t>(static_cast<double>(num_rows) /
                                                 kEntries / kMaxLoad);
  const uint64_t end = std::min(cursor + num_buckets, num_buckets_);
  for (; cursor < end; ++cursor) __builtin_prefetch(&buckets_[cursor]);
}

size_t HashedIndex::List(uint64_t* cursor, absl::Span<int64_t> keys,
                         absl::Span<uint32_t> slots) const {
  const size_t room = std::min(keys.size(), slots.size());
  size_t num = 0;
  for (; *cursor < num_buckets_ && num + kEntries <= room; ++*cursor) {
    const Bucket& bucket = buckets_[*cursor];
    for (int i = 0; i < kEntries; ++i) {
      slots[num] = bucket.slots[i].load(std::memory_order_relaxed);
      keys[num] = bucket.keys[i].load(std::memory_order_relaxed);
      if (slots[num] != RowArena::kDefaultSlot) ++num;
    }
  }
  return num;
}

}  // namespace gatherd
