// What a table takes in the memory of GPUs: the sizes of the arrays that each
// GPU holds for it. Pure arithmetic, for the engine that takes the memory and
// for people who ask how much it will be.
//
// A dense table is rows alone. A hashed one has an index of buckets, a row
// array with spare slots, since a row is written to a free slot before the
// index switches to it, and a list of free slots. Where rows may have to leave,
// each slot has a stamp of its last use, or of how often it was used.
#ifndef GATHERD_CORE_SHARD_GPU_LAYOUT_H_
#define GATHERD_CORE_SHARD_GPU_LAYOUT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/table/table_spec.h"

namespace gatherd {

inline constexpr uint32_t kGpuRowAlignment = 16;     // what a lane reads
inline constexpr uint64_t kGpuArrayAlignment = 256;  // bytes
inline constexpr uint32_t kGpuBucketBytes = 128;     // one line
inline constexpr uint32_t kGpuBucketEntries = 8;

// The most that one step of a write takes: keys, and bytes of values.
inline constexpr uint64_t kMaxStepKeys = uint64_t{64} << 10;
inline constexpr uint64_t kMaxStepBytes = uint64_t{16} << 20;

// Every GPU's part has the same sizes, so that arrays start at equal offsets.
struct GpuTableLayout {
  bool hashed = false;  // it has an index: hashed tables, and every cache
  // The parts that the rows are divided into; 1 if each GPU has all of them.
  uint32_t num_shards = 0;
  uint32_t row_stride = 0;         // bytes, a multiple of kGpuRowAlignment
  uint64_t rows_per_shard = 0;     // that a shard has to have room for
  uint64_t slots_per_shard = 0;    // for those and spare ones
  uint32_t buckets_per_shard = 0;  // 0 if not hashed
  // Keys that one step of a write takes, duplicates included: from 1 to
  // kMaxStepKeys. Two steps fit in the spare slots: one is written while the
  // rows that the one before it replaced wait for lookups to end.
  uint32_t step_keys = 0;

  // Of one GPU, each a multiple of kGpuArrayAlignment.
  uint64_t rows_bytes = 0;
  uint64_t index_bytes = 0;
  uint64_t free_list_bytes = 0;   // 4 bytes a slot
  uint64_t stamps_bytes = 0;      // 4 bytes a slot, if rows may have to leave
  uint64_t bytes_per_device = 0;  // the sum of these
};

// Whether the CUDA backend makes the table of `spec`, which has a tier, on
// GPUs: its first one is gpu. Others are in host memory there, too.
bool IsOnGpu(const TableSpec& spec);

// OK, or why the CUDA backend cannot make a table of `spec`: INVALID_ARGUMENT,
// or UNIMPLEMENTED where only this version cannot, naming table and setting.
absl::Status CheckGpuTableSpec(const TableSpec& spec);

// The layout of the gpu tier of `spec`, its first one, over `num_devices` GPUs,
// 1 or more. `spec` is one that ValidateTableSpec accepted. INVALID_ARGUMENT
// naming table, setting and limit if a shard would have more places than can be
// numbered with 32 bits.
absl::StatusOr<GpuTableLayout> PlanGpuTable(const TableSpec& spec,
                                            uint32_t num_devices);

}  // namespace gatherd

#endif  // GATHERD_CORE_SHARD_GPU_LAYOUT_H_
