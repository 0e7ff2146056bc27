// Chooses the rows that leave a full lru or lfu table, for one write batch.
//
// Tables of up to kExactSlots slots give up exactly the coldest rows. Larger
// ones give up the coldest of 32 rows or more, drawn at random, as Redis does:
// all of a draw are of the warmer half once in 2^32. A draw is a few buckets of
// the index in a row, from any one on: the hash has mixed the keys in them.
//
// Rows under keys of the batch itself are never chosen.
#ifndef GATHERD_CORE_TABLE_VICTIM_PICKER_H_
#define GATHERD_CORE_TABLE_VICTIM_PICKER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/table/batch_keys.h"
#include "core/table/slot_pool.h"
#include "core/table/table_storage.h"

namespace gatherd {

// What survives from batch to batch, the writer's.
struct EvictionState {
  uint64_t random = 0x9e37'79b9'7f4a'7c15;  // xorshift, not 0
  uint64_t draw = 0;   // of SlotIndex::List, where the next draw begins
  uint64_t sweep = 0;  // of SlotIndex::List, when rows have their turns
  uint64_t halve = 1;  // next slot whose uses are halved
};

class VictimPicker {
 public:
  // All must outlive the picker; `now` is the batch's time.
  VictimPicker(const TableStorage& storage, const SlotPool& pool,
               const BatchKeys& batch, uint32_t now, EvictionState& state);

  struct Victim {
    int64_t key = 0;
    uint32_t slot = RowArena::kDefaultSlot;
  };

  // A row outside of the batch. There must be one.
  Victim Pick();

 private:
  static constexpr uint64_t kExactSlots = 1200;  // 1024 rows and the spare
  static constexpr size_t kMinDrawn = 32;
  static constexpr size_t kMaxDrawn = kMinDrawn + SlotIndex::kMinListRoom - 1;

  struct Candidate {
    uint32_t coldness;
    Victim row;
  };

  // Of equally cold rows the one in the lower slot, often the older one, is
  // taken for colder.
  static bool IsWarmer(const Candidate& a, const Candidate& b) {
    return a.coldness != b.coldness ? a.coldness < b.coldness
                                    : a.row.slot > b.row.slot;
  }
  // Here the one in the higher slot: HalveOne, on its way up, has often made
  // those in lower ones look colder than they are.
  static bool IsWarmerOfDrawn(const Candidate& a, const Candidate& b) {
    return a.coldness != b.coldness ? a.coldness < b.coldness
                                    : a.row.slot < b.row.slot;
  }

  Candidate CandidateOf(int64_t key, uint32_t slot) const {
    return {stamps_.Coldness(slot, now_), {key, slot}};
  }
  bool IsOfBatch(int64_t key) const {
    return batch_.Find(key) != BatchKeys::kNone;
  }
  uint64_t RandomBelow(uint64_t limit);
  void CollectAll();
  Victim PickColdest();
  Victim PickDrawn();
  Victim PickNext();
  void HalveOne();

  const TableStorage& storage_;
  const SlotStamps& stamps_;
  const SlotPool& pool_;
  const BatchKeys& batch_;
  const uint32_t now_;
  EvictionState& state_;
  bool collected_ = false;
  // Of small tables: a heap with the coldest on top.
  std::vector<Candidate> coldest_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_VICTIM_PICKER_H_
