// What one batch of lookups needs: a stream and counters on each device, and
// its pieces with pinned memory. Serves one batch at a time and is used again;
// takes no memory once made.
//
// A batch is filled and launched by one thread and ended by another: the
// LookupEngine hands it from one to the other under its mutex.
#ifndef GATHERD_CORE_GPU_LOOKUP_CONTEXT_H_
#define GATHERD_CORE_GPU_LOOKUP_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/device_index.h"
#include "core/exec/chunk_queue.h"
#include "core/gpu/device_lane.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/launch_gate.h"
#include "core/gpu/lookup_pieces.h"
#include "core/table/batch.h"
#include "core/table/epoch.h"

namespace gatherd {

// Rows that the kernels of a device have read, from its own memory and from
// that of others.
struct RowReads {
  uint64_t local = 0;
  uint64_t remote = 0;
};

class LookupContext {
 public:
  // Batches that are not split run on `home`, but for self-tests of another.
  static absl::StatusOr<std::unique_ptr<LookupContext>> Create(
      GpuNode& node, DeviceIndex home);
  LookupContext(const LookupContext&) = delete;
  LookupContext& operator=(const LookupContext&) = delete;

  DeviceIndex home() const { return home_; }
  GateReader& gate_reader() { return *gate_reader_; }

  // Whether any chunk of a LookupEngine's queue fits beside those that are here
  // already, and should join them.
  bool TakesMore() const;
  // The tables of its segments are GpuTables of the node.
  void Add(const ChunkQueue::Task& task);
  const std::vector<ChunkQueue::Task>& tasks() const { return tasks_; }

  // Copies keys that are not in reply memory and starts the kernels. On an
  // error nothing runs that would write to a reply.
  absl::Status Launch();

  // Whether everything is written. From any thread.
  bool IsDone() const;
  // OK while IsDone may still become true.
  absl::Status CheckDevices() const;

  // After IsDone: brings results, missing bits and staged rows to where the
  // jobs want them. The result of tasks()[i] goes to part(i) if it is part of a
  // segment.
  void Collect();
  const LookupResult& part(size_t i) const { return parts_[i]; }
  RowReads row_reads(DeviceIndex device) const;

  // Ready for another batch.
  void Reset();

 private:
  LookupContext(GpuNode& node, DeviceIndex home)
      : node_(node), home_(home), device_(home) {}
  absl::Status Initialize();

  absl::Status LaunchOn(DeviceLane& lane, int32_t only_shard);
  bool ShouldSplit() const;
  bool Uses(const DeviceLane& lane) const {
    return is_split_ || lane.index() == device_;
  }
  void CollectMissing(const LookupPiece& piece);
  LookupResult ResultOf(const LookupPiece& piece) const;

  GpuNode& node_;
  const DeviceIndex home_;
  std::vector<DeviceLane> lanes_;  // one a device
  std::optional<GateReader> gate_reader_;
  std::optional<LookupPieces> pieces_;

  // Of the batch.
  std::vector<ChunkQueue::Task> tasks_;
  std::vector<LookupResult> parts_;  // one a task
  std::vector<DenseWindow*> windows_;
  std::optional<EpochGuard> epoch_;
  DeviceIndex device_;  // if not split
  bool is_split_ = false;
  uint64_t sequence_ = 0;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_LOOKUP_CONTEXT_H_
