// The write path of a hashed table, step by step: rows go to free slots, index
// entries switch to them, old slots go into quarantine. Keeps what outlives a
// write: the free slots, and how much has changed since the index was settled.
//
// Belongs to the table's writer, who calls it in his turn. All wait for the
// devices. An error is one of CUDA, or a fault of this program, and leaves the
// table in an unknown state.
#ifndef GATHERD_CORE_GPU_HASHED_WRITER_H_
#define GATHERD_CORE_GPU_HASHED_WRITER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/row_evictor.h"
#include "core/gpu/shard_rows.h"
#include "core/gpu/step_runner.h"
#include "core/gpu/table_state.h"
#include "core/gpu/write_steps.h"
#include "core/table/batch.h"

namespace gatherd {

// Of one step of an erase, distinct keys.
struct EraseCounts {
  uint64_t num_existing = 0;
  uint64_t num_absent = 0;
};

class HashedWriter {
 public:
  // Both must outlive the writer; all slots of the table are free.
  HashedWriter(GpuNode& node, TableState& table);
  HashedWriter(const HashedWriter&) = delete;
  HashedWriter& operator=(const HashedWriter&) = delete;

  // Before `keys` are inserted in more than one step, for a table that evicts:
  // lets go at once what has to, so that no step pushes out what one before it
  // has brought. `steps` count each key once. Rows of keys of any but the first
  // step may go like others; they are counted as evicted and inserted.
  absl::Status MakeRoom(StepRunner& runner, absl::Span<const int64_t> keys,
                        const WriteSteps& steps, uint32_t now,
                        UpdateResult* result);

  // Adds to the counts of `result`. False: the index has no place for a key
  // although there is room for its row; nothing was written.
  absl::StatusOr<bool> Write(StepRunner& runner, const UpdateBatch& batch,
                             const WriteStep& step, uint32_t now,
                             UpdateResult* result);

  absl::StatusOr<EraseCounts> Erase(StepRunner& runner,
                                    absl::Span<const int64_t> keys,
                                    const WriteStep& step);

  // At the end of a write: brings entries back to their first buckets if a
  // tenth of the table has changed since the last time.
  absl::Status SettleIfDue(StepRunner& runner);

 private:
  absl::StatusOr<std::vector<ShardLoad>> CountKeys(
      StepRunner& runner, absl::Span<const int64_t> keys, const WriteStep& step,
      uint32_t now) const;
  bool MayOverflow(uint64_t num_keys) const;
  absl::StatusOr<bool> FindPlaces(StepRunner& runner, const UpdateBatch& batch,
                                  const WriteStep& step);
  absl::Status Publish(StepRunner& runner, UpdateResult* result);
  absl::Status Settle(StepRunner& runner);
  // Of all shards, once the kernels that unlinked rows have ended.
  void SealAll();

  GpuNode& node_;
  TableState& table_;
  std::vector<ShardRows> rows_;  // by shard
  RowEvictor evictor_;
  uint64_t num_changes_ = 0;  // keys that came or went since the last settling
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_HASHED_WRITER_H_
