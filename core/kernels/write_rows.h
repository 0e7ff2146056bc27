// The two ways of WriteRowsAsync, internal to it.
#ifndef GATHERD_CORE_KERNELS_WRITE_ROWS_H_
#define GATHERD_CORE_KERNELS_WRITE_ROWS_H_

#include "core/kernels/write_batch.h"

namespace gatherd::kernels {

// The values of the positions that stand for their keys.
cudaError_t SetRowsAsync(const WriteBatch& batch, const uint32_t* free_rows,
                         cudaStream_t stream);

// Puts the positions of each key together, in the order of the request. Needs
// no values, and is no part of the time for which rows are being written.
cudaError_t SortForAddAsync(const WriteBatch& batch, cudaStream_t stream);

// Old rows, or the default row, plus the sums of all values of a key. After
// SortForAddAsync.
cudaError_t AddRowsAsync(const WriteBatch& batch, const uint32_t* free_rows,
                         cudaStream_t stream);

uint64_t AddSortBytes(uint32_t num_keys);
uint64_t NumPartialSums(uint32_t num_keys);  // rows of `dim` floats

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_WRITE_ROWS_H_
