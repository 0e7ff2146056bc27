// Writes to one table in the memory of GPUs. One thread at a time, for which
// the table has a mutex; lookups go on beside it. All calls block: they lease a
// write context and wait for devices, and for lookups that are under way.
//
// Large writes are cut into steps (write_selection.h, write_steps.h), of which
// all devices do one at a time, each for the rows that it owns. What a lookup
// sees of a write that is not acknowledged may be any of its steps.
#ifndef GATHERD_CORE_GPU_TABLE_WRITER_H_
#define GATHERD_CORE_GPU_TABLE_WRITER_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/hashed_writer.h"
#include "core/gpu/step_runner.h"
#include "core/gpu/table_state.h"
#include "core/gpu/write_steps.h"
#include "core/table/batch.h"

namespace gatherd {

class TableWriter {
 public:
  // Both must outlive the writer. The table is as it was made.
  TableWriter(GpuNode& node, TableState& table);
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  // Whether `batches`, applied in order, fit. RESOURCE_EXHAUSTED if not;
  // INVALID_ARGUMENT for one of 2^32 - 1 keys or more.
  absl::Status CheckRoom(absl::Span<const UpdateBatch> batches);

  // A batch that has room. INTERNAL, with the
  // numbers, if the index finds no place for a key although there is room: then
  // the steps before it have been written. Any other error is one of CUDA in
  // the middle of a write, which cannot be undone: every later call returns it.
  absl::StatusOr<UpdateResult> Update(const UpdateBatch& batch);
  absl::StatusOr<EraseResult> Erase(absl::Span<const int64_t> keys);

 private:
  // By the devices, where they can; else on the host.
  absl::StatusOr<WriteSteps> CutUpdate(StepRunner& runner,
                                       const UpdateBatch& batch) const;
  absl::StatusOr<WriteSteps> CutErase(StepRunner& runner,
                                      absl::Span<const int64_t> keys) const;
  WriteSteps CutOnHost(absl::Span<const int64_t> keys, bool adds,
                       bool inserts) const;
  absl::Status UpdateDense(StepRunner& runner, const UpdateBatch& batch,
                           UpdateResult* result);
  // False: no place was found.
  absl::StatusOr<bool> UpdateHashed(StepRunner& runner,
                                    const UpdateBatch& batch,
                                    UpdateResult* result);
  absl::Status DropSurplus(StepRunner& runner, const UpdateBatch& batch,
                           const WriteSteps& steps, UpdateResult* result);
  absl::StatusOr<uint64_t> EraseSteps(StepRunner& runner,
                                      absl::Span<const int64_t> keys);
  absl::Status Finish(StepRunner& runner);
  absl::Status NoPlace(const StepRunner& runner) const;
  uint64_t PublishRevision();
  absl::Status Remember(absl::Status error);

  GpuNode& node_;
  TableState& table_;
  std::optional<HashedWriter> hashed_;  // unless the table is dense
  absl::Status error_;                  // OK, or what made the table unusable
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_TABLE_WRITER_H_
