// The CUDA backend as the rest of the program sees it: no driver type in its
// interface. Thread-safe.
#ifndef GATHERD_CORE_GPU_GPU_ENGINE_H_
#define GATHERD_CORE_GPU_GPU_ENGINE_H_

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/exec/device_link.h"
#include "core/exec/device_stats.h"
#include "core/exec/dispatcher.h"
#include "core/table/table.h"
#include "core/table/table_spec.h"

namespace gatherd {

class GpuNode;
class PinnedPool;

struct GpuEngineOptions {
  std::vector<int> devices;  // as the driver numbers them; empty: every one
  // All that will be made: device memory is taken for them at once. Those
  // without a gpu tier are made in host memory.
  std::vector<TableSpec> tables;
  // Pinned memory for replies. More than that goes to the heap, and is copied.
  uint64_t reply_bytes = uint64_t{64} << 20;
  // Of one bag of a pooled lookup.
  uint64_t max_bag_keys = uint64_t{1} << 20;
};

class GpuEngine {
 public:
  // FAILED_PRECONDITION without a driver or GPU, NOT_FOUND for a device that is
  // not there; INVALID_ARGUMENT or UNIMPLEMENTED for a table that cannot be;
  // RESOURCE_EXHAUSTED, naming device, bytes needed and bytes free.
  static absl::StatusOr<std::unique_ptr<GpuEngine>> Create(
      const GpuEngineOptions& options);
  // Tables, dispatchers and replies are gone.
  ~GpuEngine();
  GpuEngine(const GpuEngine&) = delete;
  GpuEngine& operator=(const GpuEngine&) = delete;

  // Of the options' tables, each once.
  absl::StatusOr<std::unique_ptr<Table>> MakeTable(const TableSpec& spec);
  std::unique_ptr<Dispatcher> MakeDispatcher();
  std::pmr::memory_resource* reply_memory();

  // A line a device: what it is, and whether it can use the others' memory.
  std::vector<std::string> DescribeDevices() const;
  // Every ordered pair of devices, as preflight found it.
  std::vector<DeviceLink> Links() const;
  std::vector<DeviceStats> Stats() const;

 private:
  GpuEngine(std::unique_ptr<GpuNode> node);

  const std::unique_ptr<GpuNode> node_;
  const std::unique_ptr<PinnedPool> replies_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_GPU_ENGINE_H_
