// How the shards of a table share an eviction between them. Pure.
#ifndef GATHERD_CORE_GPU_EVICTION_SHARES_H_
#define GATHERD_CORE_GPU_EVICTION_SHARES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace gatherd {

// Of one shard, before a write of so many distinct keys.
struct ShardLoad {
  uint64_t num_rows = 0;      // that it has
  uint64_t num_absent = 0;    // keys that will be inserted
  uint64_t num_existing = 0;  // keys of rows that must stay
};

// How many rows leave each shard, so that afterwards no shard has more than
// `max_shard_rows` rows and the table not more than `max_rows`, but exactly
// that if rows had to leave for the table's sake: shards have no fixed share
// of the table, and the fullest ones give. The keys of the write must fit into
// both limits by themselves.
std::vector<uint64_t> ShareEvictions(absl::Span<const ShardLoad> shards,
                                     uint64_t max_rows,
                                     uint64_t max_shard_rows);

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_EVICTION_SHARES_H_
