#include "core/table/victim_picker.h"

#include <algorithm>

namespace gatherd {
namespace {

// Of equally cold slots the lower one, often the older row, goes first.
bool IsWarmer(const std::pair<uint32_t, uint32_t>& a,
              const std::pair<uint32_t, uint32_t>& b) {
  return a.first != b.first ? a.first < b.first : a.second > b.second;
}

}  // namespace

VictimPicker::VictimPicker(const TableStorage& storage, const SlotPool& pool,
                           const BatchKeys& batch, uint32_t now,
                           EvictionState& state)
    : storage_(storage),
      stamps_(*storage.stamps),
      pool_(pool),
      batch_(batch),
      now_(now),
      state_(state) {}

uint32_t VictimPicker::Pick() {
  HalveOne();
  if (storage_.arena.layout().num_slots <= kExactSlots) return PickColdest();
  const uint32_t slot = PickSampled();
  return slot == RowArena::kDefaultSlot ? PickNext() : slot;
}

// Whether there is a row in `slot`, and not of the batch. Free slots hold what
// was there before or a link; the index knows better.
bool VictimPicker::MayLeave(uint32_t slot) const {
  const int64_t key = storage_.arena.key(slot);
  return storage_.index->SlotOf(key) == slot &&
         batch_.Find(key) == BatchKeys::kNone;
}

uint32_t VictimPicker::PickColdest() {
  if (!collected_) CollectAll();
  while (!coldest_.empty()) {
    std::pop_heap(coldest_.begin(), coldest_.end(), IsWarmer);
    const uint32_t slot = coldest_.back().second;
    coldest_.pop_back();
    if (MayLeave(slot)) return slot;
  }
  return PickNext();
}

// Rows do not come to life under other keys than the batch's while it is
// applied, so one look at all of them is enough.
void VictimPicker::CollectAll() {
  collected_ = true;
  for (uint64_t i = 1; i < pool_.num_used(); ++i) {
    const uint32_t slot = static_cast<uint32_t>(i);
    if (stamps_.IsClear(slot)) continue;
    coldest_.emplace_back(stamps_.Coldness(slot, now_), slot);
  }
  std::make_heap(coldest_.begin(), coldest_.end(), IsWarmer);
}

uint32_t VictimPicker::PickSampled() {
  uint32_t samples[kSamples];
  for (uint32_t& slot : samples) {
    slot = Random();
    stamps_.Prefetch(slot);
  }
  std::pair<uint32_t, uint32_t> coldest[kSamples];
  int num = 0;
  for (const uint32_t slot : samples) {
    if (stamps_.IsClear(slot)) continue;
    coldest[num++] = {stamps_.Coldness(slot, now_), slot};
  }
  // The first choice is nearly always good: no need to sort.
  for (; num > 0; --num) {
    auto* choice = std::max_element(coldest, coldest + num);
    if (MayLeave(choice->second)) return choice->second;
    *choice = coldest[num - 1];
  }
  return RowArena::kDefaultSlot;
}

// One slot after the other: when nearly all rows are the batch's own.
uint32_t VictimPicker::PickNext() {
  while (true) {
    if (state_.sweep >= pool_.num_used()) state_.sweep = 1;
    const uint32_t slot = static_cast<uint32_t>(state_.sweep++);
    if (MayLeave(slot)) return slot;
  }
}

// A used slot, not the default one.
uint32_t VictimPicker::Random() {
  uint64_t& x = state_.random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  const uint64_t num_choices = pool_.num_used() - 1;
  return static_cast<uint32_t>(1 + (((x >> 32) * num_choices) >> 32));
}

// All uses are halved once in as many evictions as the table has slots: what
// was hot long ago cools down.
void VictimPicker::HalveOne() {
  if (state_.halve >= pool_.num_used()) state_.halve = 1;
  stamps_.Halve(static_cast<uint32_t>(state_.halve++));
}

}  // namespace gatherd
