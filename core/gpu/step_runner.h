// Runs the parts of one write step on all devices at once, each for the shard
// that it owns. All but Wait enqueue alone; between the parts the host looks
// at what the devices counted. One thread, one step at a time.
//
// A step: Begin, Find, Wait, and then, as the counters have it, Undo, Evict or
// Erase, or Upload (before the Wait if it can be) and Write; at last Wait.
// Steps of a selection are begun in any order, but their values uploaded in
// that of their numbers, each once.
#ifndef GATHERD_CORE_GPU_STEP_RUNNER_H_
#define GATHERD_CORE_GPU_STEP_RUNNER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/base/device_index.h"
#include "core/cuda/stream.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/step_lane.h"
#include "core/gpu/table_state.h"
#include "core/gpu/value_uploads.h"
#include "core/gpu/write_context.h"
#include "core/gpu/write_selection.h"
#include "core/gpu/write_steps.h"
#include "core/kernels/evict.h"
#include "core/table/batch.h"

namespace gatherd {

class StepRunner {
 public:
  // All must outlive the runner; nobody else uses the context.
  StepRunner(GpuNode& node, TableState& table, WriteContext& context);
  StepRunner(const StepRunner&) = delete;
  StepRunner& operator=(const StepRunner&) = delete;
  // Waits for what an error left behind: it uses the context's memory.
  ~StepRunner();

  uint32_t num_shards() const { return static_cast<uint32_t>(lanes_.size()); }
  const StreamView& stream(uint32_t shard) const { return streams_[shard]; }
  absl::Span<const StreamView> streams() const { return streams_; }
  const WriteScratch& scratch(uint32_t shard) const {
    return lanes_[shard].scratch;
  }

  // Cuts a write of at most kMaxSelectedKeys keys into steps, by its devices
  // (write_selection.h), and waits. `batch`: where the values are, or null.
  // Steps are good until the next call.
  absl::StatusOr<std::vector<WriteStep>> Select(absl::Span<const int64_t> keys,
                                                const UpdateBatch* batch);
  // Counts, of as many keys, distinct ones as BeginAndCount does. Waits.
  absl::Status CountAll(absl::Span<const int64_t> keys);
  // Whether a write that is not larger than a step should be cut, too, so that
  // every device gets its own values alone.
  bool IsWorthSelecting(const UpdateBatch& batch) const;

  // Uploads the keys of a step of a write of `keys` and deduplicates them.
  // `now`: for stamps. Nothing is under way.
  absl::Status Begin(absl::Span<const int64_t> keys, const WriteStep& step,
                     uint32_t now);
  // May be repeated, in another mode, if the places are given back.
  absl::Status Find(UpdateMode mode);
  // Begins a step and waits until it is counted which of its keys there are
  // already (num_existing) and which not (num_skipped).
  absl::Status BeginAndCount(absl::Span<const int64_t> keys,
                             const WriteStep& step, uint32_t now);
  // The values of the step begun. Nothing before Begin is under way.
  absl::Status Upload(const UpdateBatch& batch, const WriteStep& step);

  absl::Status Undo();
  // Requests by shard; retired and num_evicted are filled in here.
  absl::Status Evict(absl::Span<const kernels::EvictionRequest> requests);
  // Writes and publishes. `free_rows` by shard; empty for dense tables.
  absl::Status Write(absl::Span<const uint32_t* const> free_rows);
  absl::Status Erase();

  // Maintenance of the index.
  absl::Status CopyToFirst();
  absl::Status RemoveSeconds();
  // As many entries as one CopyToFirst moves at most.
  uint32_t settle_capacity(uint32_t shard) const;

  absl::Status Wait();
  // As of the last Find that was waited for.
  const kernels::WriteCounters& counters(uint32_t shard) const {
    return report(shard).counters;
  }
  // As of the last Evict or CopyToFirst.
  uint32_t num_listed(uint32_t shard) const { return report(shard).num_listed; }

 private:
  absl::Status DivideContext();
  absl::Status UploadKeys(absl::Span<const int64_t> keys,
                          const WriteStep& step);
  // Calls `launch` for each lane, its device being the current one.
  absl::Status Launch(
      const char* name,
      absl::FunctionRef<cudaError_t(const StepLane&, cudaStream_t)> launch);
  absl::Status FetchNumListed();
  kernels::SettleList SettleListOf(const StepLane& lane) const;
  const WriteReport& report(uint32_t shard) const {
    return context_.report(DeviceIndex{shard});
  }

  GpuNode& node_;
  TableState& table_;
  WriteContext& context_;
  std::vector<StepLane> lanes_;      // shard s on device s
  std::vector<StreamView> streams_;  // of the lanes
  absl::Status ready_;               // or why no step can begin
  WriteSelection selection_;
  ValueUploads uploads_;
  bool is_busy_ = false;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_STEP_RUNNER_H_
