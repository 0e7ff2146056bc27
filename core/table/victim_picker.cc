#include "core/table/victim_picker.h"

#include <algorithm>

namespace gatherd {
VictimPicker::VictimPicker(const TableStorage& storage, const SlotPool& pool,
                           const BatchKeys& batch, uint32_t now,
                           EvictionState& state)
    : storage_(storage),
      stamps_(*storage.stamps),
      pool_(pool),
      batch_(batch),
      now_(now),
      state_(state) {}

VictimPicker::Victim VictimPicker::Pick() {
  HalveOne();
  const bool is_small = storage_.arena.layout().num_slots <= kExactSlots;
  const Victim victim = is_small ? PickColdest() : PickDrawn();
  return victim.slot == RowArena::kDefaultSlot ? PickNext() : victim;
}

VictimPicker::Victim VictimPicker::PickColdest() {
  if (!collected_) CollectAll();
  while (!coldest_.empty()) {
    std::pop_heap(coldest_.begin(), coldest_.end(), IsWarmer);
    const Victim row = coldest_.back().row;
    coldest_.pop_back();
    // It may have left since, by another way.
    if (storage_.index->SlotOf(row.key) == row.slot) return row;
  }
  return {};
}

// Rows do not come to life under other keys than the batch's while it is
// applied, so one look at all of them is enough.
void VictimPicker::CollectAll() {
  collected_ = true;
  int64_t keys[kMaxDrawn];
  uint32_t slots[kMaxDrawn];
  uint64_t cursor = 0;
  while (const size_t num = storage_.index->List(&cursor, absl::MakeSpan(keys),
                                                 absl::MakeSpan(slots))) {
    for (size_t i = 0; i < num; ++i) {
      if (IsOfBatch(keys[i])) continue;
      coldest_.push_back(CandidateOf(keys[i], slots[i]));
    }
  }
  std::make_heap(coldest_.begin(), coldest_.end(), IsWarmer);
}

VictimPicker::Victim VictimPicker::PickDrawn() {
  int64_t keys[kMaxDrawn];
  uint32_t slots[kMaxDrawn];
  uint64_t cursor = state_.draw;
  size_t num = 0;
  while (num < kMinDrawn) {
    const size_t num_listed =
        storage_.index->List(&cursor, absl::MakeSpan(keys).subspan(num),
                             absl::MakeSpan(slots).subspan(num));
    if (num_listed == 0) cursor = 0;
    num += num_listed;
  }
  for (size_t i = 0; i < num; ++i) stamps_.Prefetch(slots[i]);
  // The next draw's buckets arrive while this one's row is written.
  state_.draw = RandomBelow(storage_.index->list_end());
  storage_.index->PrefetchList(state_.draw, kMinDrawn);
  Candidate drawn[kMaxDrawn];
  for (size_t i = 0; i < num; ++i) drawn[i] = CandidateOf(keys[i], slots[i]);
  // The first choice is nearly always good: no need to sort.
  for (; num > 0; --num) {
    Candidate* const choice =
        std::max_element(drawn, drawn + num, IsWarmerOfDrawn);
    if (!IsOfBatch(choice->row.key)) return choice->row;
    *choice = drawn[num - 1];
  }
  return {};
}

// One row after the other: when nearly all are the batch's own.
VictimPicker::Victim VictimPicker::PickNext() {
  int64_t keys[kMaxDrawn];
  uint32_t slots[kMaxDrawn];
  while (true) {
    const uint64_t begin = state_.sweep;
    const size_t num = storage_.index->List(&state_.sweep, absl::MakeSpan(keys),
                                            absl::MakeSpan(slots));
    if (num == 0) state_.sweep = 0;
    for (size_t i = 0; i < num; ++i) {
      if (IsOfBatch(keys[i])) continue;
      // The next turn begins here again, as others may be left.
      state_.sweep = begin;
      return {keys[i], slots[i]};
    }
  }
}

uint64_t VictimPicker::RandomBelow(uint64_t limit) {
  uint64_t& x = state_.random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return ((x >> 32) * limit) >> 32;
}

// All uses are halved once in as many evictions as the table has slots: what
// was hot long ago cools down.
void VictimPicker::HalveOne() {
  if (state_.halve >= pool_.num_used()) state_.halve = 1;
  stamps_.Halve(static_cast<uint32_t>(state_.halve++));
}

}  // namespace gatherd
