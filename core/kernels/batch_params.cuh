// A batch as its kernels get it: by value, as a parameter, so that a launch
// reads no descriptor from memory.
#ifndef GATHERD_CORE_KERNELS_BATCH_PARAMS_CUH_
#define GATHERD_CORE_KERNELS_BATCH_PARAMS_CUH_

#include "core/kernels/lookup.cuh"
#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_report.cuh"

namespace gatherd::kernels {

inline constexpr int kWarpsPerBlock = kBlockThreads / kWarpSize;

struct SegmentParams {
  LookupSegment segment;
  uint32_t first_block = 0;     // of those that work on this segment
  uint32_t items_per_warp = 0;  // keys, or bags
  uint32_t index = 0;           // of the segment in the batch, for counters
  uint32_t units_per_row = 0;   // of the output, of CommonUnit bytes
  uint32_t unit_magic = 0;      // CeilReciprocal(units_per_row)
};

template <int kCapacity>
struct BatchParams {
  ReportParams report;
  LookupCounters* counters = nullptr;
  int32_t only_shard = kAllShards;
  int32_t this_shard = 0;
  uint32_t num_segments = 0;
  SegmentParams segments[kCapacity];
};

// ceil(2^32 / n) for FastDivide; n > 1.
inline uint32_t CeilReciprocal(uint32_t n) {
  return n == 1 ? 0 : static_cast<uint32_t>(((uint64_t{1} << 32) + n - 1) / n);
}

// Fills the parameters of a launch and returns its number of blocks. `lay_out`
// sets items_per_warp, units_per_row and unit_magic of a segment and returns
// its number of items; segments without any are left out.
template <int kCapacity, class LayOut>
uint32_t FillParams(const LookupPart& part, BatchParams<kCapacity>* params,
                    const LayOut& lay_out) {
  const LookupBatch& batch = *part.batch;
  if (part.is_last) params->report = MakeReportParams(batch);
  params->counters = batch.counters;
  params->only_shard = batch.only_shard;
  params->this_shard = batch.this_shard;
  uint32_t num_blocks = 0;
  for (int i = 0; i < part.num_segments; i++) {
    SegmentParams& p = params->segments[params->num_segments];
    p.segment = part.segment(i);
    p.index = static_cast<uint32_t>(part.indices[i]);
    p.first_block = num_blocks;
    const uint32_t num_items = lay_out(p.segment, &p);
    if (num_items == 0) continue;
    const uint32_t items_per_block = p.items_per_warp * kWarpsPerBlock;
    num_blocks += (num_items + items_per_block - 1) / items_per_block;
    params->num_segments++;
  }
  if (num_blocks > 0) return num_blocks;
  // One block that finds nothing to do but to say that it is done.
  params->num_segments = 1;
  params->segments[0] = SegmentParams();
  return 1;
}

template <int kCapacity>
__device__ __forceinline__ const SegmentParams& SegmentOfBlock(
    const BatchParams<kCapacity>& batch) {
  uint32_t low = 0;
  if (kCapacity > 1) {
    uint32_t high = batch.num_segments;  // the answer is in [low, high)
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      if (batch.segments[middle].first_block <= blockIdx.x) {
        low = middle;
      } else {
        high = middle;
      }
    }
  }
  return batch.segments[low];
}

__host__ __device__ inline unsigned OutputRowBytes(const LookupSegment& s) {
  return s.output_type == ElementType::kFloat32 ? s.dim * 4
         : s.output_type == ElementType::kInt8  ? s.dim + 4
                                                : s.dim * 2;
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_BATCH_PARAMS_CUH_
