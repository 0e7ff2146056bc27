// Chooses the rows that leave a full lru or lfu table, for one write batch.
//
// Tables of up to kExactSlots slots give up exactly the coldest rows. Larger
// ones give up the coldest of 32 slots drawn at random, as Redis does: a row
// of the colder half survives a draw once in 2^32.
//
// Rows under keys of the batch itself are never chosen.
#ifndef GATHERD_CORE_TABLE_VICTIM_PICKER_H_
#define GATHERD_CORE_TABLE_VICTIM_PICKER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "core/table/batch_keys.h"
#include "core/table/slot_pool.h"
#include "core/table/table_storage.h"

namespace gatherd {

// What survives from batch to batch, the writer's.
struct EvictionState {
  uint64_t random = 0x9e37'79b9'7f4a'7c15;  // xorshift, not 0
  uint64_t sweep = 1;  // next slot to be looked at one after the other
  uint64_t halve = 1;  // next slot whose uses are halved
};

class VictimPicker {
 public:
  // All must outlive the picker; `now` is the batch's time.
  VictimPicker(const TableStorage& storage, const SlotPool& pool,
               const BatchKeys& batch, uint32_t now, EvictionState& state);

  // The slot of a row outside of the batch. There must be one.
  uint32_t Pick();

 private:
  static constexpr uint64_t kExactSlots = 1200;  // 1024 rows and the spare
  static constexpr int kSamples = 32;

  bool MayLeave(uint32_t slot) const;
  uint32_t Random();
  void CollectAll();
  uint32_t PickColdest();
  uint32_t PickSampled();
  uint32_t PickNext();
  void HalveOne();

  const TableStorage& storage_;
  const SlotStamps& stamps_;
  const SlotPool& pool_;
  const BatchKeys& batch_;
  const uint32_t now_;
  EvictionState& state_;
  bool collected_ = false;
  // Of small tables: (coldness, slot), a heap with the coldest on top.
  std::vector<std::pair<uint32_t, uint32_t>> coldest_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_VICTIM_PICKER_H_
