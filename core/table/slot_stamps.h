// When, or how often, the row of each slot was used: what eviction goes by.
//
// Lookups write stamps and the table's writer reads them, all relaxed: they
// order nothing, and a stamp lost between two threads only makes a guess
// worse. They stand apart from the rows so that a lookup dirties four bytes of
// a dense array, not a line of a row.
//
// LRU: the stamp is the time of the last use by a clock of 32 bits that ticks
// once a lookup chunk and once a write batch; ages are compared modulo 2^32.
// LFU: it is the number of uses, halved from time to time.
#ifndef GATHERD_CORE_TABLE_SLOT_STAMPS_H_
#define GATHERD_CORE_TABLE_SLOT_STAMPS_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/table/host_memory.h"
#include "core/table/table_spec.h"

namespace gatherd {

class SlotStamps {
 public:
  static uint64_t NumBytes(uint64_t num_slots) {
    return num_slots * sizeof(uint32_t);
  }

  // `memory` is zeroed and has NumBytes of the slots. Lru or lfu.
  SlotStamps(Eviction eviction, HostMemory memory)
      : lfu_(eviction == Eviction::kLfu),
        memory_(std::move(memory)),
        stamps_(reinterpret_cast<std::atomic<uint32_t>*>(memory_.data())) {}

  // The time of a lookup chunk or a write batch.
  uint32_t Tick() { return clock_.fetch_add(1, std::memory_order_relaxed); }

  void Prefetch(uint32_t slot) const { __builtin_prefetch(&stamps_[slot], 1); }

  // The row of `slot` has been used at `now`.
  void Touch(uint32_t slot, uint32_t now) const {
    const uint32_t old = Get(slot);
    if (lfu_) {
      if (old != std::numeric_limits<uint32_t>::max()) Set(slot, old + 1);
    } else if (old != now) {
      Set(slot, now);
    }
  }

  // A new value of the row in `old` (kDefaultSlot: a new row) stands in
  // `slot`, which no lookup knows yet.
  void Inherit(uint32_t slot, uint32_t old, uint32_t now) const {
    if (lfu_) Set(slot, old == 0 ? 0 : Get(old));
    Touch(slot, now);
  }

  // Of two slots the one with the larger cold value is to go first.
  uint32_t Coldness(uint32_t slot, uint32_t now) const {
    return lfu_ ? ~Get(slot) : now - Get(slot);
  }

  // Forgets half of the uses of `slot`, never all.
  void Halve(uint32_t slot) const {
    if (lfu_ && Get(slot) > 1) Set(slot, Get(slot) / 2);
  }

  uint64_t num_bytes() const { return memory_.num_bytes(); }

 private:
  uint32_t Get(uint32_t slot) const {
    return stamps_[slot].load(std::memory_order_relaxed);
  }
  void Set(uint32_t slot, uint32_t stamp) const {
    stamps_[slot].store(stamp, std::memory_order_relaxed);
  }

  const bool lfu_;
  const HostMemory memory_;
  std::atomic<uint32_t>* const stamps_;
  alignas(64) std::atomic<uint32_t> clock_{1};
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_SLOT_STAMPS_H_
