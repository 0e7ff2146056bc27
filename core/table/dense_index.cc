#include "core/table/dense_index.h"

#include <algorithm>
#include <utility>

namespace gatherd {

DenseIndex::DenseIndex(uint64_t rows, HostMemory memory)
    : rows_(rows),
      memory_(std::move(memory)),
      slots_(reinterpret_cast<std::atomic<uint32_t>*>(memory_.data())) {}

void DenseIndex::Prefetch(KeyGroup& group) const {
  for (const int64_t key : group.keys) {
    if (Row(key) < rows_) __builtin_prefetch(&slots_[key]);
  }
}

void DenseIndex::Find(KeyGroup& group) const {
  group.found = 0;
  for (size_t i = 0; i < group.keys.size(); ++i) {
    const int64_t key = group.keys[i];
    group.slots[i] = SlotOf(key);
    group.found |= uint32_t{Accepts(key)} << i;
  }
}

uint32_t DenseIndex::Put(int64_t key, uint32_t slot) {
  const uint32_t old = slots_[key].load(std::memory_order_relaxed);
  slots_[key].store(slot, std::memory_order_release);
  return old;
}

uint32_t DenseIndex::Remove(int64_t key) {
  return Put(key, RowArena::kDefaultSlot);
}

size_t DenseIndex::List(uint64_t* cursor, absl::Span<int64_t> keys,
                        absl::Span<uint32_t> slots) const {
  const size_t num =
      std::min<uint64_t>(std::min(keys.size(), slots.size()), rows_ - *cursor);
  for (size_t i = 0; i < num; ++i) {
    keys[i] = static_cast<int64_t>(*cursor + i);
    slots[i] = slots_[*cursor + i].load(std::memory_order_relaxed);
  }
  *cursor += num;
  return num;
}

}  // namespace gatherd
