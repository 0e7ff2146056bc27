#include "core/gpu/eviction_shares.h"

#include <algorithm>

namespace gatherd {
namespace {

// What a shard would hold if nothing left it.
uint64_t RowsWanted(const ShardLoad& shard) {
  return shard.num_rows + shard.num_absent;
}

// What leaves a shard, if it can, so that `level` rows are left.
uint64_t Above(const ShardLoad& shard, uint64_t level) {
  const uint64_t rows = RowsWanted(shard);
  const uint64_t may_go = shard.num_rows - shard.num_existing;
  return rows <= level ? 0 : std::min(rows - level, may_go);
}

uint64_t SumAbove(absl::Span<const ShardLoad> shards, uint64_t level) {
  uint64_t sum = 0;
  for (const ShardLoad& shard : shards) sum += Above(shard, level);
  return sum;
}

// The highest level, at most `highest`, at which at least `count` rows leave.
uint64_t LevelFor(absl::Span<const ShardLoad> shards, uint64_t count,
                  uint64_t highest) {
  uint64_t low = 0;
  uint64_t high = highest;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    if (SumAbove(shards, middle) >= count) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

std::vector<uint64_t> ShareEvictions(absl::Span<const ShardLoad> shards,
                                     uint64_t max_rows,
                                     uint64_t max_shard_rows) {
  uint64_t rows_wanted = 0;
  for (const ShardLoad& shard : shards) rows_wanted += RowsWanted(shard);
  const uint64_t needed = rows_wanted > max_rows ? rows_wanted - max_rows : 0;
  const uint64_t level = LevelFor(shards, needed, max_shard_rows);

  std::vector<uint64_t> shares;
  uint64_t sum = 0;
  for (const ShardLoad& shard : shards) {
    shares.push_back(Above(shard, level));
    sum += shares.back();
  }
  // The level is one row too low for some shards, unless it is the limit.
  for (size_t i = 0; i < shares.size() && sum > needed; ++i) {
    if (level == max_shard_rows || shares[i] == 0 ||
        RowsWanted(shards[i]) - shares[i] > level) {
      continue;
    }
    --shares[i];
    --sum;
  }
  return shares;
}

}  // namespace gatherd
