// Brings entries of a hashed table that stand in their second bucket back to
// their first, where there is room: without it they pile up as keys come and
// go. In two passes, with no write to the shard between them:
//
//   CopyToFirstAsync      copies entries to free places of their first bucket
//   (the host waits for every lookup launched before the end of that)
//   RemoveSecondsAsync    removes the originals
#ifndef GATHERD_CORE_KERNELS_SETTLE_H_
#define GATHERD_CORE_KERNELS_SETTLE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/kernels/table_ref.h"

namespace gatherd::kernels {

// Device memory.
struct SettleList {
  uint32_t* places = nullptr;  // `capacity` places of entries copied
  uint32_t* count = nullptr;   // one number; may exceed the capacity
  uint32_t capacity = 0;       // entries beyond it are left to a later pass
};

cudaError_t CopyToFirstAsync(const TableRef& table, uint32_t shard,
                             const SettleList& list, cudaStream_t stream);

cudaError_t RemoveSecondsAsync(const TableRef& table, uint32_t shard,
                               const SettleList& list, cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_SETTLE_H_
