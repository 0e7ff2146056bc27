// The row slots of one shard that hold no row: those that are free, and behind
// them those in quarantine, whose old rows lookups may still be reading.
//
// Their numbers lie in device memory as one ring of as many entries as the
// shard has slots, which cannot overflow: a slot is in it at most once. Rows
// are taken where the free ones begin, and given back where the quarantine
// ends; that a quarantine is over moves a border on the host, and no memory.
//
// One thread at a time: the table's writer, between whose writes all that it
// enqueued has ended.
#ifndef GATHERD_CORE_GPU_SHARD_ROWS_H_
#define GATHERD_CORE_GPU_SHARD_ROWS_H_

#include <cstdint>
#include <deque>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/cuda/stream.h"
#include "core/table/epoch.h"

namespace gatherd {

class ShardRows {
 public:
  // `ring`: device memory, `num_slots` numbers of slots, all different and all
  // free. Both must outlive this.
  ShardRows(uint32_t* ring, uint64_t num_slots, EpochDomain& epochs);

  // Sees to it that `count` slots are free; waits, if need be, for the oldest
  // quarantines to end. INTERNAL if even all were not enough.
  absl::Status Reserve(uint64_t count);

  // `count` numbers of free slots that are now taken, for kernels on `stream`:
  // in the ring or, where they go round its end, copied to `scratch` (device
  // memory for as many). There must be so many.
  absl::StatusOr<const uint32_t*> Take(uint32_t count, uint32_t* scratch,
                                       StreamView stream);

  // Enqueues that `count` numbers from device memory come into quarantine. It
  // begins with Seal: once the kernels have ended that removed what named them,
  // with the epoch that node.epochs().Advance() then gave. From then on one may
  // wait for it.
  absl::Status Retire(const uint32_t* rows, uint32_t count, StreamView stream);
  void Seal(uint64_t epoch);

  uint64_t num_free() const { return num_free_; }
  uint64_t num_quarantined() const { return num_quarantined_; }

 private:
  struct Quarantine {
    uint64_t count;
    uint64_t epoch;
  };

  void EndOldest();

  uint32_t* const ring_;
  const uint64_t num_slots_;
  EpochDomain& epochs_;
  uint64_t first_free_ = 0;  // in the ring
  uint64_t num_free_;
  uint64_t num_quarantined_ = 0;
  uint64_t num_unsealed_ = 0;           // the last ones of them
  std::deque<Quarantine> quarantines_;  // sealed, the oldest first
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_SHARD_ROWS_H_
