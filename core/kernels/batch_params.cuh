// A batch as its kernels get it: by value, as a parameter, so that a launch
// reads no descriptor from memory.
#ifndef GATHERD_CORE_KERNELS_BATCH_PARAMS_CUH_
#define GATHERD_CORE_KERNELS_BATCH_PARAMS_CUH_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/kernels/lookup.cuh"
#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_report.cuh"

namespace gatherd::kernels {

struct SegmentParams {
  LookupSegment segment;
  uint32_t items_per_warp = 0;  // keys, or bags
  uint32_t owned_per_warp = 0;  // keys of one shard alone: at a time, at most
  uint32_t index = 0;           // of the segment in the batch, for counters
  uint32_t units_per_row = 0;   // of the output, of CommonUnit bytes
  uint32_t unit_magic = 0;      // CeilReciprocal(units_per_row)
  uint32_t first_key = 0;       // in BatchParams::keys
};

// kNumKeys: 0, or how many keys there is room for; then the keys are not read
// from the segments, which saves a small batch a trip to the host's memory.
template <int kCapacity, int kNumKeys = 0>
struct BatchParams {
  ReportParams report;
  LookupCounters* counters = nullptr;
  int32_t only_shard = kAllShards;
  int32_t this_shard = 0;
  uint32_t num_segments = 0;
  // The first of the blocks that work on each segment. Apart from the rest: a
  // search reads few lines.
  uint32_t first_blocks[kCapacity];
  SegmentParams segments[kCapacity];
  int64_t keys[kNumKeys == 0 ? 1 : kNumKeys];
};

// Sizes of parameter blocks between one segment and kMaxSegments.
inline constexpr int kFewSegments = 32;
inline constexpr int kFewKeys = 512;

inline bool HasFewKeys(const LookupPart& part) {
  if (!part.batch->keys_on_host) return false;
  uint64_t num_keys = 0;
  for (int i = 0; i < part.num_segments; i++) {
    num_keys += part.segment(i).num_keys;
  }
  return num_keys <= kFewKeys;
}

// What CUDA lets a kernel have of parameters.
inline constexpr size_t kMaxParamBytes = 32764;

// ceil(2^32 / n) for FastDivide; n > 1.
inline uint32_t CeilReciprocal(uint32_t n) {
  return n == 1 ? 0 : static_cast<uint32_t>(((uint64_t{1} << 32) + n - 1) / n);
}

inline ReportParams MakeReportParams(const LookupPart& part) {
  const LookupBatch& batch = *part.batch;
  ReportParams report;
  report.done = batch.done;
  report.sequence = batch.sequence;
  report.blocks_left = batch.blocks_left;
  report.counters = reinterpret_cast<uint32_t*>(batch.counters);
  report.host_counters = reinterpret_cast<uint32_t*>(batch.host_counters);
  report.missing_words = batch.missing_words;
  report.host_missing = batch.host_missing;
  report.num_counter_words =
      static_cast<uint32_t>(batch.num_segments) * kWordsPerCounters;
  report.num_missing_words = batch.num_missing_words;
  report.is_only = part.num_segments == batch.num_segments;
  return report;
}

__host__ __device__ inline unsigned OutputRowBytes(const LookupSegment& s) {
  return s.output_type == ElementType::kFloat32 ? s.dim * 4
         : s.output_type == ElementType::kInt8  ? s.dim + 4
                                                : s.dim * 2;
}

// A slice of a segment of `part`, of as many keys as the others but the last.
inline LookupSegment SliceOf(const LookupPart& part, int segment, int slice) {
  LookupSegment s = part.segment(segment);
  if (part.num_slices == 1) return s;
  // Slices share no word of missing bits.
  const auto num_slices = static_cast<uint64_t>(part.num_slices);
  const uint64_t most =
      (s.num_keys + num_slices * 32 - 1) / (num_slices * 32) * 32;
  const uint64_t first =
      std::min<uint64_t>(static_cast<uint64_t>(slice) * most, s.num_keys);
  s.keys += first;
  s.output = static_cast<char*>(s.output) + first * OutputRowBytes(s);
  s.missing += first / 32;
  s.num_keys = static_cast<uint32_t>(std::min(most, s.num_keys - first));
  return s;
}

// Fills the parameters of a launch and returns its number of blocks, each of
// kThreads. `lay_out` sets items_per_warp, units_per_row and unit_magic of a
// segment, or a slice of one, and returns its number of items; those without
// any are left out. Pooled segments have one slice.
template <int kThreads, int kCapacity, int kNumKeys, class LayOut>
uint32_t FillParams(const LookupPart& part,
                    BatchParams<kCapacity, kNumKeys>* params,
                    const LayOut& lay_out) {
  static_assert(sizeof(*params) <= kMaxParamBytes);
  const LookupBatch& batch = *part.batch;
  if (part.is_last) params->report = MakeReportParams(part);
  params->counters = batch.counters;
  params->only_shard = batch.only_shard;
  params->this_shard = batch.this_shard;
  uint32_t num_blocks = 0;
  uint32_t num_keys = 0;
  for (int n = 0; n < part.num_segments * part.num_slices; n++) {
    const int i = n % part.num_segments;
    SegmentParams& p = params->segments[params->num_segments];
    p.segment = SliceOf(part, i, n / part.num_segments);
    p.index = static_cast<uint32_t>(part.indices[i]);
    params->first_blocks[params->num_segments] = num_blocks;
    const uint32_t num_items = lay_out(p.segment, &p);
    if (num_items == 0) continue;
    if (kNumKeys != 0) {
      p.first_key = num_keys;
      std::copy_n(p.segment.keys, p.segment.num_keys, params->keys + num_keys);
      num_keys += p.segment.num_keys;
    }
    const uint32_t items_per_block = p.items_per_warp * (kThreads / kWarpSize);
    num_blocks += (num_items + items_per_block - 1) / items_per_block;
    params->num_segments++;
  }
  if (num_blocks > 0) return num_blocks;
  // One block that finds nothing to do but to say that it is done.
  params->num_segments = 1;
  params->segments[0] = SegmentParams();
  params->first_blocks[0] = 0;
  return 1;
}

// Launches a kernel, whose blocks have `shared_bytes` of shared memory beside
// what it declares, and the report after it if it sends none itself.
template <int kThreads, class Params>
cudaError_t LaunchAndReport(void (*kernel)(Params), uint32_t num_blocks,
                            uint32_t shared_bytes, Params* params,
                            cudaStream_t stream) {
  const ReportParams report = params->report;
  constexpr uint32_t kMaxBlocks = kMaxReportingThreads / kThreads;
  static_assert(kMaxBlocks < kCountedBlock);
  const bool apart = report.done != nullptr && num_blocks > kMaxBlocks;
  if (apart) params->report.done = nullptr;
  kernel<<<num_blocks, kThreads, shared_bytes, stream>>>(*params);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess || !apart) return error;
  return LaunchReport(report, stream);
}

// Which of a batch's segments this block works on.
template <int kCapacity, int kNumKeys>
__device__ __forceinline__ uint32_t
SegmentOfBlock(const BatchParams<kCapacity, kNumKeys>& batch) {
  uint32_t low = 0;
  if (kCapacity > 1) {
    uint32_t high = batch.num_segments;  // the answer is in [low, high)
    while (high - low > 1) {
      const uint32_t middle = (low + high) / 2;
      if (batch.first_blocks[middle] <= blockIdx.x) {
        low = middle;
      } else {
        high = middle;
      }
    }
  }
  return low;
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_BATCH_PARAMS_CUH_
