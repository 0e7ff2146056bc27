#include "core/table/update_run.h"

#include <algorithm>

namespace gatherd {
namespace {

// Slots to be written are fetched that many keys before their turn.
constexpr size_t kSlotsAhead = 8;

}  // namespace

UpdateRun::UpdateRun(TableStorage& storage, SlotPool& pool,
                     EvictionState& eviction, const UpdateBatch& batch,
                     const BatchKeys& keys)
    : storage_(storage),
      pool_(pool),
      batch_(batch),
      keys_(keys),
      dim_(storage.spec.dim),
      value_bytes_(RowBytes(batch.data_type, storage.spec.dim)),
      convert_(GetConvertRow(batch.data_type, storage.spec.data_type)),
      now_(storage.evicts() ? storage.stamps->Tick() : 0),
      num_rows_(storage.num_rows.load(std::memory_order_relaxed)) {
  if (storage.evicts()) {
    picker_ =
        std::make_unique<VictimPicker>(storage, pool, keys, now_, eviction);
  }
  if (batch.mode == UpdateMode::kAdd) sum_.resize(dim_);
}

UpdateResult UpdateRun::Run() {
  DropSurplus();
  const absl::Span<const int64_t> keys = keys_.keys();
  const bool reads_old_rows = batch_.mode == UpdateMode::kAdd;
  KeyGroup groups[2];
  const auto prefetch = [&](size_t begin) {
    KeyGroup& group = groups[begin / KeyGroup::kMaxKeys % 2];
    group.keys = keys.subspan(begin, KeyGroup::kMaxKeys);
    storage_.index->Prefetch(group);
  };
  if (!keys.empty()) prefetch(0);
  for (size_t begin = 0; begin < keys.size(); begin += KeyGroup::kMaxKeys) {
    KeyGroup& group = groups[begin / KeyGroup::kMaxKeys % 2];
    storage_.index->Find(group);
    for (size_t i = 0; reads_old_rows && i < group.keys.size(); ++i) {
      storage_.arena.PrefetchToRead(group.slots[i]);
    }
    const size_t next = begin + KeyGroup::kMaxKeys;
    if (next < keys.size()) prefetch(next);
    for (size_t i = 0; i < group.keys.size(); ++i) {
      if (IsDropped(begin + i)) continue;
      Write(begin + i, group.slots[i], (group.found >> i & 1) != 0);
    }
  }
  return result_;
}

// The keys that stand last in the batch stay: what writing one after the other
// into an lru table comes to.
void UpdateRun::DropSurplus() {
  const size_t num_keys = keys_.keys().size();
  const uint64_t limit = storage_.spec.rows();
  if (!storage_.evicts() || batch_.mode == UpdateMode::kSetExisting ||
      num_keys <= limit) {
    return;
  }
  std::vector<uint32_t> last(num_keys);
  for (size_t i = 0; i < num_keys; ++i) last[i] = keys_.last(i);
  const auto first_kept = last.begin() + (num_keys - limit);
  std::nth_element(last.begin(), first_kept, last.end());
  dropped_.resize(num_keys);
  for (size_t i = 0; i < num_keys; ++i) {
    if (keys_.last(i) >= *first_kept) continue;
    dropped_[i] = true;
    const uint32_t slot = storage_.index->SlotOf(keys_.keys()[i]);
    if (slot == RowArena::kDefaultSlot) {
      ++result_.num_inserted;
      ++result_.num_evicted;
    } else {
      ++result_.num_updated;
      Evict(keys_.keys()[i], slot);
    }
  }
  storage_.num_evictions.fetch_add(result_.num_inserted,
                                   std::memory_order_relaxed);
}

void UpdateRun::Write(size_t number, uint32_t old, bool exists) {
  const int64_t key = keys_.keys()[number];
  if (!storage_.index->Accepts(key) ||
      (!exists && batch_.mode == UpdateMode::kSetExisting)) {
    ++result_.num_skipped;
    return;
  }
  if (!exists) MakeRoom();
  const uint32_t slot = pool_.Take();
  storage_.arena.PrefetchToWrite(pool_.Peek(kSlotsAhead));
  FillRow(number, old, storage_.arena.row(slot));
  if (storage_.evicts()) storage_.stamps->Inherit(slot, old, now_);
  storage_.index->Put(key, slot);
  if (old != RowArena::kDefaultSlot) pool_.Retire(old);
  if (exists) {
    ++result_.num_updated;
  } else {
    ++result_.num_inserted;
    storage_.num_rows.store(++num_rows_, std::memory_order_relaxed);
  }
}

void UpdateRun::MakeRoom() {
  if (storage_.evicts() && num_rows_ == storage_.spec.rows()) {
    const VictimPicker::Victim victim = picker_->Pick();
    Evict(victim.key, victim.slot);
  }
}

void UpdateRun::FillRow(size_t number, uint32_t old, std::byte* row) {
  if (batch_.mode == UpdateMode::kAdd) {
    AddUp(number, old, row);
  } else {
    convert_(Value(keys_.last(number)), row, dim_);
  }
}

// A key without a row starts from the default row, which is in its slot.
void UpdateRun::AddUp(size_t number, uint32_t old, std::byte* row) {
  const DataType type = storage_.spec.data_type;
  std::byte* sum = reinterpret_cast<std::byte*>(sum_.data());
  GetConvertRow(type, DataType::kFloat32)(storage_.arena.row(old), sum, dim_);
  const AddRowFn add = GetAddRow(batch_.data_type);
  for (uint32_t position = keys_.first(number); position != BatchKeys::kNone;
       position = keys_.next(position)) {
    add(Value(position), sum_.data(), dim_);
  }
  GetConvertRow(DataType::kFloat32, type)(sum, row, dim_);
}

void UpdateRun::Evict(int64_t key, uint32_t slot) {
  storage_.index->Remove(key);
  pool_.Retire(slot);
  ++result_.num_evicted;
  storage_.num_evictions.fetch_add(1, std::memory_order_relaxed);
  storage_.num_rows.store(--num_rows_, std::memory_order_relaxed);
}

}  // namespace gatherd
