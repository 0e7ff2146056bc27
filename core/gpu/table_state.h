// What a table of the CUDA backend consists of: its memory on every device,
// what kernels must know of it, and its counters. Who changes what: lookups
// read (lookup_engine.h), one writer at a time writes (table_writer.h).
#ifndef GATHERD_CORE_GPU_TABLE_STATE_H_
#define GATHERD_CORE_GPU_TABLE_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/device_index.h"
#include "core/cuda/vmm_arena.h"
#include "core/gpu/launch_gate.h"
#include "core/gpu/write_steps.h"
#include "core/kernels/table_ref.h"
#include "core/shard/gpu_layout.h"
#include "core/table/table_spec.h"

namespace gatherd {

class GpuNode;

// Offsets, in a table's block, of what each device has of it.
struct TableOffsets {
  uint64_t rows = 0;
  uint64_t index = 0;
  uint64_t stamps = 0;
  uint64_t free_rows = 0;    // hashed: uint32_t, slots_per_shard of them
  uint64_t default_row = 0;  // every device has its own
};

class TableState {
 public:
  // Takes the memory from the node's arena and makes the table empty: hashed
  // tables have no entry and all slots free, dense ones the default row
  // everywhere. `spec` is valid and has one gpu tier. RESOURCE_EXHAUSTED if the
  // arena has not got the room.
  static absl::StatusOr<std::unique_ptr<TableState>> Create(
      GpuNode& node, const TableSpec& spec);

  // What Create takes of the arena.
  static uint64_t BytesPerDevice(const GpuTableLayout& layout);

  TableState(const TableState&) = delete;
  TableState& operator=(const TableState&) = delete;

  const TableSpec spec;
  const GpuTableLayout layout;
  const VmmBlock block;
  const TableOffsets offsets;

  bool hashed() const { return layout.hashed; }
  bool evicts() const { return spec.eviction != Eviction::kNone; }

  // For kernels that run on `device`; without `now`.
  const kernels::TableRef& ref(DeviceIndex device) const {
    return refs_[static_cast<size_t>(device)];
  }

  // A time for stamps, never 0 (LRU); 0 (LFU).
  uint32_t Tick() {
    if (spec.eviction != Eviction::kLru) return 0;
    const uint32_t now = clock_.fetch_add(1, std::memory_order_relaxed);
    return now == 0 ? 1 : now;
  }

  // Dense tables alone.
  DenseWindow* window() { return window_.has_value() ? &*window_ : nullptr; }

  // Written by the table's writer, read by anyone. Relaxed: figures alone.
  std::vector<std::atomic<uint64_t>> rows_of_shard;
  std::atomic<uint64_t> num_evictions{0};
  // Release, once the kernels of the write have ended: lookups launched by
  // whoever loads (acquire) a revision see its rows.
  std::atomic<uint64_t> revision{0};

  uint64_t num_rows() const {
    uint64_t num = 0;
    for (const auto& rows : rows_of_shard) {
      num += rows.load(std::memory_order_relaxed);
    }
    return num;
  }

 private:
  TableState(const TableSpec& table_spec, const GpuTableLayout& table_layout,
             VmmBlock table_block, const TableOffsets& table_offsets);

  absl::Status Initialize(GpuNode& node);
  absl::Status InitializeShard(GpuNode& node, DeviceIndex device);

  std::vector<kernels::TableRef> refs_;
  std::optional<DenseWindow> window_;
  std::atomic<uint32_t> clock_{1};
};

// How writes of the table are cut, if they neither add nor evict.
WriteStepsOptions StepOptionsOf(const TableState& table);

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_TABLE_STATE_H_
