// Whether an update fits into a hashed table that lets no row go.
#ifndef GATHERD_CORE_GPU_ROOM_CHECK_H_
#define GATHERD_CORE_GPU_ROOM_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/table_state.h"
#include "core/table/batch.h"

namespace gatherd {

// RESOURCE_EXHAUSTED if `batches`, applied in order, bring more distinct new
// keys than the table, or one device's part of it, has room for. Asks the
// devices only if it would not be enough for every key to be new; then a write
// context is leased meanwhile. OK for tables of other kinds. For the table's
// writer, in his turn. Other errors are of CUDA; nothing has changed.
absl::Status CheckTableRoom(GpuNode& node, TableState& table,
                            absl::Span<const UpdateBatch> batches);

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_ROOM_CHECK_H_
