// Writes rows to one shard of a table, in steps:
//
//   FindTargetsAsync   which keys exist; places for those that shall be added
//   (the host reads the counters and decides)
//   UndoAsync          gives the places back: the table is as it was, or
//   WriteRowsAsync     rows go to free row slots (dense: in place), and then
//   PublishAsync       the entries name them (hashed tables only)
//
// All rows are in memory before the first entry names one, so that no lookup
// meets part of a row. Rows of dense tables are written where they lie: the
// caller keeps lookups away meanwhile.
#ifndef GATHERD_CORE_KERNELS_UPDATE_H_
#define GATHERD_CORE_KERNELS_UPDATE_H_

#include "core/kernels/write_batch.h"

namespace gatherd::kernels {

// After DeduplicateAsync. Fills workspace.targets and counters; keys that are
// absent are put into the index, unseen by lookups, unless the mode is
// kSetExisting. For kAdd it also sorts positions by key: WriteRowsAsync, which
// keeps lookups of a dense table waiting, is all the shorter.
cudaError_t FindTargetsAsync(const WriteBatch& batch, cudaStream_t stream);

cudaError_t UndoAsync(const WriteBatch& batch, cudaStream_t stream);

// `free_rows`: device memory, num_existing + num_inserted rows of the shard
// that no lookup can be reading; all of them are used. Not for dense tables,
// where it is null. The mode is that of FindTargetsAsync.
cudaError_t WriteRowsAsync(const WriteBatch& batch, const uint32_t* free_rows,
                           cudaStream_t stream);

// Writes the num_existing rows that were replaced to `retired`. They may be
// used again once every lookup launched before the end of this has ended.
// Stamps what was written where the table has stamps, and clears theirs.
cudaError_t PublishAsync(const WriteBatch& batch, const uint32_t* free_rows,
                         uint32_t* retired, cudaStream_t stream);

// After FindTargetsAsync with kSetExisting: empties the entries found and
// writes their num_existing rows to `retired`. Dense tables: the keys found get
// the default row; `retired` is null.
cudaError_t EraseAsync(const WriteBatch& batch, uint32_t* retired,
                       cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_UPDATE_H_
