#include "core/gpu/row_evictor.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/hash.h"
#include "core/gpu/write_shape.h"

namespace gatherd {

absl::StatusOr<uint64_t> RowEvictor::MakeRoom(StepRunner& runner,
                                              std::vector<ShardLoad> loads) {
  uint64_t sum = 0;
  while (true) {
    const std::vector<uint64_t> shares =
        ShareEvictions(loads, table_.spec.rows(), table_.layout.rows_per_shard);
    const uint64_t wanted =
        std::accumulate(shares.begin(), shares.end(), uint64_t{0});
    if (wanted == 0) return sum;
    auto gone = Evict(runner, shares, loads);
    if (!gone.ok()) return gone.status();
    if (*gone == 0) {
      return absl::InternalError(
          absl::StrCat("table \"", table_.spec.name, "\": ", wanted,
                       " rows should make room and none could be found"));
    }
    sum += *gone;
  }
}

absl::StatusOr<uint64_t> RowEvictor::Evict(StepRunner& runner,
                                           absl::Span<const uint64_t> shares,
                                           std::vector<ShardLoad>& loads) {
  const uint64_t seed = table_.ref(DeviceIndex{0}).seed;
  const uint64_t max_listed =
      ShapeOfWrites(table_.spec, table_.layout).num_keys;
  std::vector<kernels::EvictionRequest> requests(shares.size());
  for (size_t shard = 0; shard < shares.size(); ++shard) {
    requests[shard].num_rows =
        static_cast<uint32_t>(std::min(shares[shard], max_listed));
    requests[shard].seed = MixKey(static_cast<int64_t>(num_rounds_++), seed);
    requests[shard].sweep = num_evicted_[shard];
  }
  absl::Status status = runner.Evict(requests);
  if (status.ok()) status = runner.Wait();
  if (!status.ok()) return status;

  const uint64_t epoch = node_.epochs().Advance();
  uint64_t sum = 0;
  for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
    const uint32_t num_gone = runner.num_listed(shard);
    table_.rows_of_shard[shard].fetch_sub(num_gone, std::memory_order_relaxed);
    loads[shard].num_rows -= num_gone;
    num_evicted_[shard] += num_gone;
    sum += num_gone;
    status = rows_[shard].Retire(runner.scratch(shard).retired, num_gone,
                                 runner.stream(shard));
    if (!status.ok()) return status;
    rows_[shard].Seal(epoch);
  }
  table_.num_evictions.fetch_add(sum, std::memory_order_relaxed);
  return sum;
}

}  // namespace gatherd
