// The table of distinct keys of a write batch.
#ifndef GATHERD_CORE_KERNELS_DEDUP_OF_CUH_
#define GATHERD_CORE_KERNELS_DEDUP_OF_CUH_

#include "core/kernels/dedup.cuh"
#include "core/kernels/dedup.h"
#include "core/kernels/write_batch.cuh"

namespace gatherd::kernels {

inline DedupRef DedupOf(const WriteBatch& batch) {
  return {batch.workspace.dedup, NumDedupSlots(batch.num_keys) - 1, batch.keys,
          batch.table.seed};
}

__device__ __forceinline__ bool IsOwned(const WriteBatch& batch, int64_t key) {
  return batch.table.shards.num_shards == 1 ||
         OwnerOf(batch.table, key) == static_cast<int32_t>(batch.shard);
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_DEDUP_OF_CUH_
