// Eviction: the rows of one shard that were used longest ago (LRU), or least
// (LFU), make room for those of a write.
//
// A shard whose index has up to kExactPlaces places gives up exactly its
// coldest rows, of equally cold ones those in lower row slots first. A larger
// one gives up, for each row wanted, the coldest of the entries found in 32
// places drawn at random, as core/table/victim_picker.h does: a row of the
// colder half survives a draw about once in 2^28.
//
// LFU: what was hot long ago must cool down. Each eviction of n rows goes on
// through the index by n places and halves the uses of the rows there, never
// to zero: all uses are halved once in as many evictions as there are places.
#ifndef GATHERD_CORE_KERNELS_EVICT_H_
#define GATHERD_CORE_KERNELS_EVICT_H_

#include "core/kernels/write_batch.h"

namespace gatherd::kernels {

// 256 buckets: 1200 rows at any load above 0.59.
inline constexpr uint32_t kExactPlaces = 2048;

struct EvictionRequest {
  uint32_t num_rows = 0;  // how many shall go
  uint64_t seed = 0;      // of the draws: another one each time
  uint64_t sweep = 0;     // rows that the shard has evicted before; LFU alone
  // Device memory.
  uint32_t* retired = nullptr;      // the row slots of those gone, num_rows
  uint32_t* num_evicted = nullptr;  // one number: how many they are
};

// After DeduplicateAsync and FindTargetsAsync with kSetExisting, on a hashed
// table with stamps. Removes request.num_rows entries, or all there are, and
// none of the batch's keys. Their slots may be used again once every lookup
// launched before the end of this has ended. The targets of the batch stay as
// they are, its counters, too.
cudaError_t EvictAsync(const WriteBatch& batch, const EvictionRequest& request,
                       cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_EVICT_H_
