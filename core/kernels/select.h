// Cuts a write that is too large for one step, on the GPUs that own its rows:
// which positions each has to write, and the values of those alone.
#ifndef GATHERD_CORE_KERNELS_SELECT_H_
#define GATHERD_CORE_KERNELS_SELECT_H_

#include "core/kernels/write_batch.h"

namespace gatherd::kernels {

// Device memory for as many entries as the batch has keys, and one count.
struct Selection {
  uint32_t* positions = nullptr;
  int64_t* keys = nullptr;  // at these positions
  uint32_t* count = nullptr;
};

// After DeduplicateAsync of the batch, which is the whole write: lists the last
// positions of the distinct keys of the batch's shard, in order. Uses the
// workspace's targets.
cudaError_t SelectAsync(const WriteBatch& batch, const Selection& selection,
                        cudaStream_t stream);

// Rows of a request in pinned host memory, without padding between them.
struct HostRows {
  const void* rows = nullptr;  // aligned as their elements are
  uint32_t row_bytes = 0;
};

// Brings the rows at `count` positions over, without gaps, to device memory
// aligned to 16 bytes. `count * row_bytes` is less than 2^31.
cudaError_t FetchRowsAsync(const HostRows& values, const uint32_t* positions,
                           uint32_t count, void* to, cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_SELECT_H_
