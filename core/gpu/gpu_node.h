// The GPUs of a node and what all tables share of them: one range of device
// memory, pinned memory for replies, and the contexts that lookups and writes
// run in. All memory is taken here, at start; nothing is on the path of a
// request. Thread-safe.
#ifndef GATHERD_CORE_GPU_GPU_NODE_H_
#define GATHERD_CORE_GPU_GPU_NODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/device_index.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"
#include "core/cuda/preflight.h"
#include "core/cuda/vmm_arena.h"
#include "core/gpu/launch_gate.h"
#include "core/gpu/write_shape.h"
#include "core/kernels/kernel_api.h"
#include "core/table/epoch.h"
#include "core/table/table_spec.h"

namespace gatherd {

class LookupEngine;
class WriteContextPool;

struct GpuNodeOptions {
  std::vector<DeviceId> devices;  // at least one, all different
  uint64_t table_bytes_per_device = 0;
  // Pinned host memory that replies are made in: kernels store rows there by
  // themselves. Rows for other memory are copied once more.
  uint64_t reply_bytes = uint64_t{64} << 20;
  // Of one bag; larger ones are refused.
  uint64_t max_bag_keys = uint64_t{1} << 20;
  // A batch of lookups runs in a context; so many batches are under way on a
  // device at most, more wait and are joined.
  int lookup_contexts_per_device = 12;
  // Threads that end jobs, sending their replies.
  int num_reply_threads = 4;
  // Writes under way at once. Each has memory on each device for a step of a
  // write of any of these shapes: those of all tables.
  int num_write_contexts = 2;
  std::vector<WriteShape> write_shapes;
};

// What `options` must say so that all of `specs` can be made.
absl::Status PlanTables(absl::Span<const TableSpec> specs,
                        GpuNodeOptions* options);

class GpuNode {
 public:
  // The tables of functions outlive the node. Errors as of RunPreflight and
  // VmmBuffer::Create.
  static absl::StatusOr<std::unique_ptr<GpuNode>> Create(
      const CudaApi& api, const kernels::KernelApi& kernels,
      const GpuNodeOptions& options);
  // All tables are gone, and no lookup is under way.
  ~GpuNode();
  GpuNode(const GpuNode&) = delete;
  GpuNode& operator=(const GpuNode&) = delete;

  const CudaApi& api() const { return api_; }
  const kernels::KernelApi& kernels() const { return kernels_; }
  const GpuNodeOptions& options() const { return options_; }
  const PreflightReport& preflight() const { return preflight_; }

  const std::vector<DeviceId>& devices() const { return options_.devices; }
  uint32_t num_devices() const {
    return static_cast<uint32_t>(options_.devices.size());
  }
  DeviceId id(DeviceIndex device) const {
    return options_.devices[static_cast<size_t>(device)];
  }
  // Whether every device reads every row; else each its own alone.
  bool shares_memory() const { return preflight_.access == VmmAccess::kShared; }

  VmmArena& arena() { return *arena_; }
  // A lookup batch is inside from before its launch until its end was noticed.
  EpochDomain& epochs() { return epochs_; }
  LaunchGate& gate() { return gate_; }
  LookupEngine& lookups() { return *lookups_; }
  WriteContextPool& writes() { return *writes_; }

  // Pinned memory for requests and replies, reply_bytes of it.
  absl::Span<std::byte> reply_memory() const;
  // Whether all of these bytes are in it.
  bool IsPinned(const void* memory, uint64_t num_bytes) const;

 private:
  GpuNode(const CudaApi& api, const kernels::KernelApi& kernels,
          const GpuNodeOptions& options);
  absl::Status Initialize();

  const CudaApi& api_;
  const kernels::KernelApi& kernels_;
  const GpuNodeOptions options_;
  PreflightReport preflight_;
  EpochDomain epochs_;
  LaunchGate gate_;
  std::unique_ptr<VmmArena> arena_;
  struct Pinned;
  std::unique_ptr<Pinned> pinned_;
  std::unique_ptr<WriteContextPool> writes_;
  std::unique_ptr<LookupEngine> lookups_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_GPU_NODE_H_
