// Brings the values of a write's steps to the devices.
//
// A step that the host has cut is uploaded as a whole to every device. Of one
// that is part of a selection each device gets what it has to write, and those
// of the next step are on their way meanwhile, on a stream of their own: from
// pinned memory, such as a request's, devices fetch them by themselves; of
// others the host makes pinned copies.
//
// One thread at a time. Calls enqueue alone.
#ifndef GATHERD_CORE_GPU_VALUE_UPLOADS_H_
#define GATHERD_CORE_GPU_VALUE_UPLOADS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/step_lane.h"
#include "core/gpu/write_context.h"
#include "core/gpu/write_selection.h"
#include "core/gpu/write_steps.h"
#include "core/table/batch.h"

namespace gatherd {

class ValueUploads {
 public:
  // All outlive it.
  ValueUploads(GpuNode& node, WriteContext& context,
               const WriteSelection& selection)
      : node_(node), context_(context), selection_(selection) {}

  // Whether devices read the values by themselves.
  bool ArePinned(const UpdateBatch& batch, uint32_t dim) const;

  // Before the first part of a new selection.
  void Restart() { next_part_ = 0; }

  // Nothing that reads values before this step's kernels is under way. What
  // is enqueued later on the lanes' streams finds them in batch.values.
  absl::Status Upload(absl::Span<StepLane> lanes, const UpdateBatch& batch,
                      const WriteStep& step);

  // Whether something may be under way that no lane's stream waits for.
  bool is_ahead() const { return is_ahead_; }

 private:
  absl::Status UploadWhole(absl::Span<StepLane> lanes, const UpdateBatch& batch,
                           const WriteStep& step);
  absl::Status UploadPart(absl::Span<StepLane> lanes, const UpdateBatch& batch,
                          uint32_t number);
  absl::Status EnqueueNext(absl::Span<const StepLane> lanes,
                           const UpdateBatch& batch);
  absl::Status Fetch(absl::Span<const StepLane> lanes,
                     const UpdateBatch& batch);
  absl::Status StageAndCopy(absl::Span<const StepLane> lanes,
                            const UpdateBatch& batch);

  GpuNode& node_;
  WriteContext& context_;
  const WriteSelection& selection_;
  uint32_t next_part_ = 0;  // to be enqueued
  bool is_ahead_ = false;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_VALUE_UPLOADS_H_
