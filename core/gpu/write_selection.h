// Lets the devices cut a write into steps. Each gets all keys, finds out which
// of them stand for themselves (of equal keys the last one does) and lists
// those that it owns in their order. Step n has the n-th part of every device's
// list: a key is in one step, and no device gets anything but what it has to
// write.
//
// One thread of the host took 105 ns a key of 256 bytes to cut and copy, for
// all devices together; so cut, two GPUs write 300 M keys a second.
//
// One thread at a time. Calls enqueue on the lanes' streams, and wait.
#ifndef GATHERD_CORE_GPU_WRITE_SELECTION_H_
#define GATHERD_CORE_GPU_WRITE_SELECTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/step_lane.h"
#include "core/gpu/write_context.h"
#include "core/gpu/write_steps.h"

namespace gatherd {

class WriteSelection {
 public:
  // Both outlive it.
  WriteSelection(GpuNode& node, WriteContext& context)
      : node_(node), context_(context) {}

  // Of at most kMaxSelectedKeys keys: counts, in the lanes' reports, which of
  // those that they own there are already (num_existing) and which not
  // (num_skipped), each distinct key once.
  absl::Status Count(absl::Span<const StepLane> lanes,
                     absl::Span<const int64_t> keys);

  // Lists the keys of a write, at most kMaxSelectedKeys, in their order, for
  // steps of up to `step_keys` keys a lane. Lists stay until the next call.
  absl::Status Select(absl::Span<const StepLane> lanes,
                      absl::Span<const int64_t> keys, uint32_t step_keys);
  // Copies the lists of positions to the host.
  absl::Status FetchPositions(absl::Span<const StepLane> lanes);

  std::vector<WriteStep> Steps() const;

  // The entries of a shard's list that are in a step.
  struct Part {
    uint32_t first;
    uint32_t num_keys;
  };
  Part part(uint32_t shard, uint32_t number) const;
  uint32_t num_parts() const { return num_parts_; }
  // Where a shard's positions are, once fetched.
  const uint32_t* host_positions(uint32_t shard) const;

 private:
  // Uploads all keys and makes `batches` of them, by lane.
  absl::Status Deduplicate(absl::Span<const StepLane> lanes,
                           absl::Span<const int64_t> keys);

  GpuNode& node_;
  WriteContext& context_;
  std::vector<kernels::WriteBatch> batches_;  // the whole write, by shard
  std::vector<uint32_t> counts_;              // of the lists, by shard
  uint32_t step_keys_ = 1;
  uint32_t num_parts_ = 0;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_WRITE_SELECTION_H_
