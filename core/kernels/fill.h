// Filling arrays before anybody reads them: rows of a new table with its
// default row, and lists of free row slots.
#ifndef GATHERD_CORE_KERNELS_FILL_H_
#define GATHERD_CORE_KERNELS_FILL_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gatherd::kernels {

// `rows`: num_rows rows, one after another, each `row_stride` bytes (a multiple
// of 16, at most 32 KiB and 16). `row`: the one that is copied to all, device
// or pinned memory. Both aligned to 16 bytes.
cudaError_t FillRowsAsync(void* rows, uint64_t num_rows, const void* row,
                          uint32_t row_stride, cudaStream_t stream);

// out[i] = first + i. Device memory.
cudaError_t IotaAsync(uint32_t* out, uint32_t count, uint32_t first,
                      cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_FILL_H_
