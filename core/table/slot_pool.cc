#include "core/table/slot_pool.h"

#include <algorithm>
#include <cstring>

namespace gatherd {

SlotPool::SlotPool(const RowArena& arena, EpochDomain& epochs)
    : arena_(arena), epochs_(epochs), capacity_(arena.layout().num_spare) {
  free_.reserve(capacity_);
  retired_.reserve(capacity_);
  waiting_.reserve(capacity_);
}

uint32_t SlotPool::Take() {
  if (free_.empty() && chain_ == 0 &&
      next_fresh_ == arena_.layout().num_slots) {
    WaitForAll();
  }
  if (!free_.empty()) {
    const uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  if (chain_ != 0) {
    const uint32_t slot = chain_;
    std::memcpy(&chain_, arena_.row(slot), sizeof(chain_));
    return slot;
  }
  return static_cast<uint32_t>(next_fresh_++);
}

uint32_t SlotPool::Peek(size_t ahead) const {
  if (ahead < free_.size()) return free_[free_.size() - 1 - ahead];
  if (chain_ != 0) return 0;
  const uint64_t fresh = next_fresh_ + (ahead - free_.size());
  return fresh < arena_.layout().num_slots ? static_cast<uint32_t>(fresh) : 0;
}

void SlotPool::Retire(uint32_t slot) {
  if (retired_.size() == capacity_) WaitForAll();
  retired_.push_back(slot);
}

void SlotPool::Poll() {
  if (!waiting_.empty()) {
    if (!epochs_.HasPassed(waiting_epoch_)) return;
    FreeWaiting();
  }
  if (retired_.empty()) return;
  waiting_.swap(retired_);
  waiting_epoch_ = epochs_.Advance();
}

void SlotPool::WaitForAll() {
  // One Advance covers both lists: what waits already was unlinked earlier.
  const uint64_t epoch = epochs_.Advance();
  epochs_.WaitUntilPassed(epoch);
  FreeWaiting();
  waiting_.swap(retired_);
  FreeWaiting();
}

void SlotPool::FreeWaiting() {
  for (const uint32_t slot : waiting_) {
    if (free_.size() < capacity_) {
      free_.push_back(slot);
    } else {
      std::memcpy(arena_.row(slot), &chain_, sizeof(chain_));
      chain_ = slot;
    }
  }
  waiting_.clear();
}

}  // namespace gatherd
