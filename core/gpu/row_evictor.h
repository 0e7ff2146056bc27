// Lets rows of a hashed table go so that others fit: the coldest of each shard,
// as many as eviction_shares.h says. Rows never exceed the table's limit, since
// those that leave do so before any that comes has a place.
//
// Belongs to the table's writer, who calls it in his turn.
#ifndef GATHERD_CORE_GPU_ROW_EVICTOR_H_
#define GATHERD_CORE_GPU_ROW_EVICTOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/gpu/eviction_shares.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/shard_rows.h"
#include "core/gpu/step_runner.h"
#include "core/gpu/table_state.h"

namespace gatherd {

class RowEvictor {
 public:
  // All must outlive the evictor. `rows`: the slots of each shard.
  RowEvictor(GpuNode& node, TableState& table, std::vector<ShardRows>& rows)
      : node_(node),
        table_(table),
        rows_(rows),
        num_evicted_(table.layout.num_shards) {}

  // Makes room for keys that loads[shard] counts. Those of the step that
  // `runner` has begun, and found with kSetExisting, stay. Returns how many
  // rows have left. Waits.
  absl::StatusOr<uint64_t> MakeRoom(StepRunner& runner,
                                    std::vector<ShardLoad> loads);

 private:
  // One round. Subtracts what has left from the loads, and returns their sum.
  absl::StatusOr<uint64_t> Evict(StepRunner& runner,
                                 absl::Span<const uint64_t> shares,
                                 std::vector<ShardLoad>& loads);

  GpuNode& node_;
  TableState& table_;
  std::vector<ShardRows>& rows_;
  std::vector<uint64_t> num_evicted_;  // of each shard, since the beginning
  uint64_t num_rounds_ = 0;            // draws differ from round to round
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_ROW_EVICTOR_H_
