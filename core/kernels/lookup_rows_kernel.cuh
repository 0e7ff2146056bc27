// Lookup without pooling: the kernel. Grid: blocks of 256 threads over the keys
// of all segments, one after another; a warp takes 8 to 32 keys of one table.
// Bytes moved a key: 8 read, 128 of the index if hashed (1.13 lines at load
// 0.9), the row read, the row written. Bound by HBM; docs/benchmarks.md has it
// beside the ceiling programs.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_ROWS_KERNEL_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_ROWS_KERNEL_CUH_

#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_rows.cuh"
#include "core/kernels/lookup_rows_hashed.cuh"
#include "core/kernels/lookup_shape.cuh"
#include "core/kernels/lookup_stamps.cuh"

namespace gatherd::kernels {

template <bool kHashed, Variant kVariant, int kCapacity, int kNumKeys>
__device__ __forceinline__ KeyFate LookUpWarp(
    const BatchParams<kCapacity, kNumKeys>& batch, const SegmentParams& params,
    uint32_t first, RowList& list, unsigned lane) {
  constexpr bool kGeneral = kVariant == Variant::kGeneral;
  const LookupSegment& s = params.segment;
  const uint32_t count = min(params.items_per_warp, s.num_keys - first);
  const bool mine = lane < count;
  int64_t key = 0;
  if (mine) {
    key = kNumKeys != 0 ? batch.keys[params.first_key + first + lane]
                        : __ldg(s.keys + first + lane);
  }
  const bool hashed = kHashed && s.table.index != nullptr;
  if (!kGeneral && hashed && params.items_per_warp == kWarpSize) {
    const RowPlace place = CopyHashedRows<Reach::kNode>(params, first, key,
                                                        lane, mine, list, lane);
    const KeyFate fate = FateOf(place, mine, batch.this_shard);
    NoteMissing(s, fate, first, lane);
    return fate;
  }
  const RowPlace place =
      hashed ? FindSome<Reach::kNode>(s.table, params.items_per_warp, key, mine,
                                      lane)
             : FindDense(s.table, key);

  const KeyFate fate = FateOf(place, mine, batch.this_shard);
  NoteMissing(s, fate, first, lane);

  if (kGeneral) {
    list.rows[lane] = place.row;
    list.places[lane] = lane;
    __syncwarp();
    const RowStamp stamp(s.table, place, mine);
    if (hashed) {
      WriteAnyRows<true, kHashedInFlight>(params, list, count, first, lane);
    } else {
      WriteAnyRows<false, kDenseInFlight>(params, list, count, first, lane);
    }
    stamp.Write();
    return fate;
  }
  list.rows[lane] = place.row;
  __syncwarp();
  const unsigned parts = params.units_per_row;
  char* const to =
      static_cast<char*>(s.output) + static_cast<uint64_t>(first) * parts * 16;
  if (hashed) {
    CopyAllRows<true, kHashedInFlight>(list, count, parts, params.unit_magic,
                                       to, lane);
  } else {
    CopyAllRows<false, kDenseInFlight>(list, count, parts, params.unit_magic,
                                       to, lane);
  }
  return fate;
}

template <bool kHashed, Variant kVariant, int kCapacity, int kNumKeys>
__global__ void __launch_bounds__(kBlockThreads,
                                  kBlocksPerSm<kHashed, kVariant>)
    LookupRowsKernel(
        const __grid_constant__ BatchParams<kCapacity, kNumKeys> batch) {
  __shared__ RowList lists[kWarpsPerBlock];
  const unsigned warp = threadIdx.x / kWarpSize;
  const uint32_t segment = SegmentOfBlock(batch);
  const SegmentParams& params = batch.segments[segment];
  const uint32_t first =
      ((blockIdx.x - batch.first_blocks[segment]) * kWarpsPerBlock + warp) *
      params.items_per_warp;
  KeyFate fate = KeyFate::kNoKey;
  if (first < params.segment.num_keys) {
    fate = LookUpWarp<kHashed, kVariant>(batch, params, first, lists[warp],
                                         threadIdx.x % kWarpSize);
  }
  const bool counted = CountKeys(
      batch.counters == nullptr ? nullptr : batch.counters + params.index, fate,
      params.segment.table.shards.num_shards > 1);
  FinishBlock(batch.report, counted);
}

template <bool kHashed, Variant kVariant, int kCapacity, int kNumKeys>
cudaError_t LaunchSized(const LookupPart& part, cudaStream_t stream) {
  BatchParams<kCapacity, kNumKeys> params;
  const uint32_t num_blocks = FillParams<kBlockThreads>(
      part, &params, [&](const LookupSegment& s, SegmentParams* p) {
        const unsigned row_bytes = OutputRowBytes(s);
        p->items_per_warp = KeysPerWarp(s, s.num_keys);
        p->units_per_row = row_bytes / CommonUnit(row_bytes, 16);
        p->unit_magic = CeilReciprocal(p->units_per_row);
        return s.num_keys;
      });
  return LaunchAndReport<kBlockThreads>(
      LookupRowsKernel<kHashed, kVariant, kCapacity, kNumKeys>, num_blocks, 0,
      &params, stream);
}

// With the smallest parameter block that holds the part: it costs less to
// launch.
template <bool kHashed, Variant kVariant>
cudaError_t LaunchRows(const LookupPart& part, cudaStream_t stream) {
  const bool few_keys = HasFewKeys(part);
  if (part.num_segments <= 1) {
    return few_keys ? LaunchSized<kHashed, kVariant, 1, kFewKeys>(part, stream)
                    : LaunchSized<kHashed, kVariant, 1, 0>(part, stream);
  }
  if (part.num_segments <= kFewSegments) {
    return few_keys
               ? LaunchSized<kHashed, kVariant, kFewSegments, kFewKeys>(part,
                                                                        stream)
               : LaunchSized<kHashed, kVariant, kFewSegments, 0>(part, stream);
  }
  return LaunchSized<kHashed, kVariant, kMaxSegments, 0>(part, stream);
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_ROWS_KERNEL_CUH_
