// Which slots of an arena are free, and when a slot that the index has let go
// may be used again. Takes no memory after it is made. For the table's writer:
// one thread at a time.
//
// A slot goes round: Take -> (written, published, unlinked) -> Retire ->
// one grace period of the epoch domain -> free. Retired slots wait in a list
// aside, as lookups may still read them; free ones stand on a short stack or,
// beyond it, in a chain that runs through the slots themselves.
#ifndef GATHERD_CORE_TABLE_SLOT_POOL_H_
#define GATHERD_CORE_TABLE_SLOT_POOL_H_

#include <cstdint>
#include <vector>

#include "core/table/epoch.h"
#include "core/table/row_arena.h"

namespace gatherd {

class SlotPool {
 public:
  // Both must outlive the pool. All slots but the default one are free.
  SlotPool(const RowArena& arena, EpochDomain& epochs);

  // A slot to write. Waits for a grace period if all others are in use or
  // retired; one is always found, as the table holds at most `rows` slots and
  // the arena has more.
  uint32_t Take();

  // The number that Take would give next without waiting, to be prefetched;
  // `ahead` places further. 0 if it is not known.
  uint32_t Peek(size_t ahead) const;

  // `slot` has been unlinked from the index. Waits for a grace period where
  // the list is full.
  void Retire(uint32_t slot);

  // Frees what has waited long enough, and starts the wait of what has been
  // retired since. Does not block; for the end of each batch.
  void Poll();

  // Slots from here on have never been taken.
  uint64_t num_used() const { return next_fresh_; }

  // Slots retired and not free yet, for tests.
  size_t num_retired() const { return retired_.size() + waiting_.size(); }

 private:
  void FreeWaiting();
  void WaitForAll();

  const RowArena& arena_;
  EpochDomain& epochs_;
  const size_t capacity_;  // of each list

  std::vector<uint32_t> free_;
  uint32_t chain_ = 0;  // first slot of the chain, 0: none
  uint64_t next_fresh_ = 1;
  std::vector<uint32_t> retired_;  // since the last Advance
  std::vector<uint32_t> waiting_;  // for waiting_epoch_ to pass
  uint64_t waiting_epoch_ = 0;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_SLOT_POOL_H_
