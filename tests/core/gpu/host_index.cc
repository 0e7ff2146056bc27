#include "tests/core/gpu/host_index.h"

#include "absl/synchronization/mutex.h"

namespace gatherd::kernels {
namespace {

// Of the bucket that begins with this entry.
absl::Mutex& MutexOf(const IndexEntry* bucket) {
  constexpr uint64_t kNumMutexes = 1024;
  static auto* const mutexes = new absl::Mutex[kNumMutexes];
  return mutexes[reinterpret_cast<uint64_t>(bucket) /
                 (kEntriesPerBucket * sizeof(IndexEntry)) % kNumMutexes];
}

constexpr int kMaxMoves = 4;  // as in core/kernels/insert.cuh

}  // namespace

HostIndex::HostIndex(const TableRef& table, uint32_t shard)
    : table_(table),
      entries_(reinterpret_cast<IndexEntry*>(
          reinterpret_cast<uint64_t>(table.index) +
          shard * table.index_shard_bytes)) {}

// Without the mutex, which the one thread that stores does not need: two that
// nothing keeps apart would be a race for ThreadSanitizer to find.
IndexEntry HostIndex::Load(uint32_t place) const { return entries_[place]; }

void HostIndex::Store(uint32_t place, const IndexEntry& entry) {
  IndexEntry* const bucket =
      entries_ + place / kEntriesPerBucket * kEntriesPerBucket;
  absl::MutexLock lock(&MutexOf(bucket));
  entries_[place] = entry;
}

// The bucket as a whole, as a GPU reads it: a key that leaves meanwhile for its
// second bucket is either found or counted.
HostIndex::Found HostIndex::FindInBucket(uint32_t bucket, int64_t key,
                                         uint32_t state,
                                         bool* overflowed) const {
  const uint32_t first = bucket * kEntriesPerBucket;
  absl::MutexLock lock(&MutexOf(entries_ + first));
  *overflowed = (entries_[first].meta >> kOverflowShift) != 0;
  for (uint32_t place = first; place < first + kEntriesPerBucket; ++place) {
    const IndexEntry& entry = entries_[place];
    if (entry.key == key && (entry.meta & kStateMask) == state) {
      return {place, entry.row};
    }
  }
  return {};
}

HostIndex::Found HostIndex::Find(int64_t key, uint32_t state) const {
  const KeyPlace place = PlaceOf(key, table_);
  bool overflowed = false;
  const Found found = FindInBucket(place.first, key, state, &overflowed);
  if (found.place != kNowhere || !overflowed) return found;
  return FindInBucket(place.second, key, state, &overflowed);
}

void HostIndex::Put(uint32_t place, int64_t key, uint32_t row, uint32_t state) {
  const IndexEntry old = Load(place);
  Store(place, {key, row, (old.meta & ~kStateMask) | state});
}

void HostIndex::AddOverflow(uint32_t bucket, int delta) {
  IndexEntry entry = Load(bucket * kEntriesPerBucket);
  entry.meta += static_cast<uint32_t>(delta) << kOverflowShift;
  Store(bucket * kEntriesPerBucket, entry);
}

uint32_t HostIndex::TakePlace(uint32_t bucket, int64_t key, uint32_t row,
                              uint32_t state) {
  for (uint32_t i = 0; i < kEntriesPerBucket; ++i) {
    const uint32_t place = bucket * kEntriesPerBucket + i;
    if ((Load(place).meta & kStateMask) != kEmpty) continue;
    Put(place, key, row, state);
    return place;
  }
  return kNowhere;
}

uint32_t HostIndex::Displace(int num_moves, uint32_t bucket, int64_t key,
                             uint32_t row, uint32_t state) {
  for (uint32_t i = 0; i < kEntriesPerBucket; ++i) {
    const uint32_t place = bucket * kEntriesPerBucket + i;
    const IndexEntry entry = Load(place);
    const uint32_t entry_state = entry.meta & kStateMask;
    if (entry_state == kEmpty) continue;
    const KeyPlace at = PlaceOf(entry.key, table_);
    if (at.first != bucket || at.second == bucket) continue;
    uint32_t copy = TakePlace(at.second, entry.key, entry.row, entry_state);
    if (copy == kNowhere && num_moves > 1) {
      copy =
          Displace(num_moves - 1, at.second, entry.key, entry.row, entry_state);
    }
    if (copy == kNowhere) continue;
    const IndexEntry now = Load(place);
    if (now.key != entry.key || (now.meta & kStateMask) != entry_state) {
      Put(copy, 0, 0, kEmpty);  // the further moves came back to it
      continue;
    }
    AddOverflow(bucket, 1);
    Put(place, key, row, state);
    return place;
  }
  return kNowhere;
}

uint32_t HostIndex::Insert(int64_t key, uint32_t row, uint32_t state) {
  const KeyPlace at = PlaceOf(key, table_);
  uint32_t place = TakePlace(at.first, key, row, state);
  if (place != kNowhere || at.second == at.first) return place;
  AddOverflow(at.first, 1);
  place = TakePlace(at.second, key, row, state);
  if (place != kNowhere) return place;
  place = Displace(1, at.second, key, row, state);
  if (place != kNowhere) return place;
  AddOverflow(at.first, -1);
  for (const int num_moves : {1, kMaxMoves}) {
    place = Displace(num_moves, at.first, key, row, state);
    if (place != kNowhere) return place;
  }
  AddOverflow(at.first, 1);
  place = Displace(kMaxMoves, at.second, key, row, state);
  if (place == kNowhere) AddOverflow(at.first, -1);
  return place;
}

void HostIndex::SetRow(uint32_t place, uint32_t row) {
  Put(place, Load(place).key, row, kValid);
}

void HostIndex::Remove(uint32_t place) {
  const KeyPlace at = PlaceOf(Load(place).key, table_);
  Put(place, 0, 0, kEmpty);
  if (place / kEntriesPerBucket != at.first) AddOverflow(at.first, -1);
}

void HostIndex::SetProtected(uint32_t place, bool is_protected) {
  IndexEntry entry = Load(place);
  entry.meta = (entry.meta & ~kProtected) | (is_protected ? kProtected : 0);
  Store(place, entry);
}

bool HostIndex::CopyToFirst(uint32_t place) {
  const IndexEntry entry = Load(place);
  if ((entry.meta & kStateMask) != kValid) return false;
  const uint32_t first = PlaceOf(entry.key, table_).first;
  return first != place / kEntriesPerBucket &&
         TakePlace(first, entry.key, entry.row, kValid) != kNowhere;
}

}  // namespace gatherd::kernels
