// The write path of a dense table, step by step: rows are written where they
// lie, in a window that keeps lookups of the table away (launch_gate.h). What
// can be done before it opens is done before.
//
// For the table's writer, in his turn. Both wait for the devices.
#ifndef GATHERD_CORE_GPU_DENSE_WRITER_H_
#define GATHERD_CORE_GPU_DENSE_WRITER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/step_runner.h"
#include "core/gpu/table_state.h"
#include "core/gpu/write_steps.h"
#include "core/table/batch.h"

namespace gatherd {

// Adds to the counts of `result`. All rows exist; keys out of range are
// skipped.
absl::Status WriteDenseStep(GpuNode& node, TableState& table,
                            StepRunner& runner, const UpdateBatch& batch,
                            const WriteStep& step, UpdateResult* result);

// The rows become the default row. Returns the number of distinct keys in
// range.
absl::StatusOr<uint64_t> EraseDenseStep(GpuNode& node, TableState& table,
                                        StepRunner& runner,
                                        absl::Span<const int64_t> keys,
                                        const WriteStep& step);

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_DENSE_WRITER_H_
