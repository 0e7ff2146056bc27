// A batch of keys to be written to one shard of a table, and the device memory
// that the steps of a write share. Steps are launched on one stream, one write
// of a shard at a time; lookups may run beside all of them.
#ifndef GATHERD_CORE_KERNELS_WRITE_BATCH_H_
#define GATHERD_CORE_KERNELS_WRITE_BATCH_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/kernels/lookup.h"
#include "core/kernels/table_ref.h"

namespace gatherd::kernels {

// The numbers are those of the protocol.
enum class WriteMode : uint8_t { kSet = 0, kAdd = 1, kSetExisting = 2 };

// Distinct keys of the batch that the shard owns. Zeroed by FindTargetsAsync.
struct WriteCounters {
  uint32_t num_existing;
  uint32_t num_inserted;  // have a place, not yet to be seen
  uint32_t num_skipped;   // absent and not to be inserted, or out of range
  uint32_t num_failed;    // found no place: the write must be undone
  uint32_t num_absent;    // inserted and failed
};

// Where the row of one key goes. One a position of the batch; only the
// position that stands for its key has a place.
struct alignas(16) WriteTarget {
  uint32_t place;  // entry of the shard's index; see below
  uint32_t row;    // the row it has, or kNewRow
  uint32_t rank;   // among the existing, or the inserted keys
  uint32_t unused;
};
inline constexpr uint32_t kNoPlace = 0xffffffffu;      // nothing to be written
inline constexpr uint32_t kAbsentPlace = 0xfffffffeu;  // to be inserted
inline constexpr uint32_t kNewRow = 0xffffffffu;

// Device memory for batches of up to `num_keys` keys.
struct WriteWorkspace {
  uint32_t* dedup = nullptr;  // NumDedupSlots(num_keys)
  WriteTarget* targets = nullptr;
  // For kAdd alone.
  uint32_t* sort_slots[2] = {};
  uint32_t* sort_positions[2] = {};
  void* sort_scratch = nullptr;
  uint64_t sort_scratch_bytes = 0;
  float* partial_sums = nullptr;
};

enum class WorkspaceFor { kSet, kAdd };

// The bytes that a workspace takes.
uint64_t WriteWorkspaceBytes(uint32_t num_keys, uint32_t dim, WorkspaceFor use);

// Divides that much device memory, aligned to 256 bytes.
WriteWorkspace DivideWorkspace(void* memory, uint32_t num_keys, uint32_t dim,
                               WorkspaceFor use);

struct WriteBatch {
  TableRef table;
  uint32_t shard = 0;             // the one whose keys are written
  const int64_t* keys = nullptr;  // num_keys
  // Rows of RowBytes(value_type, dim) without padding; aligned to 16 bytes.
  const void* values = nullptr;
  uint32_t num_keys = 0;  // below 2^31
  uint32_t dim = 0;
  ElementType table_type = ElementType::kFloat32;
  ElementType value_type = ElementType::kFloat32;
  WriteMode mode = WriteMode::kSet;
  WriteWorkspace workspace;
  WriteCounters* counters = nullptr;  // device memory
};

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_WRITE_BATCH_H_
