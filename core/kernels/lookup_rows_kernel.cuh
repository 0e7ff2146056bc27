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
#include "core/kernels/lookup_stamps.cuh"

namespace gatherd::kernels {

inline constexpr int kWarpsPerBlock = kBlockThreads / kWarpSize;

// Parts of 16 bytes of dense rows in flight a lane: what measured best.
inline constexpr int kDenseInFlight = 2;

// kPlain: every row goes out as it is, in 16-byte parts, whoever owns it, and
// none is stamped. Half the registers of kGeneral, and what most requests ask
// for.
enum class Variant { kPlain, kGeneral };

// How many blocks shall fit on an SM. Five would leave hashed plain rows too
// few registers for looking at second buckets while rows are on their way.
template <bool kHashed, Variant kVariant>
inline constexpr int kBlocksPerSm =
    kHashed&& kVariant == Variant::kPlain ? 4 : 1;

template <bool kRelaxed, int kInFlight>
__device__ __forceinline__ void WriteAnyRows(const SegmentParams& params,
                                             const RowList& list,
                                             unsigned count, uint32_t first_row,
                                             unsigned lane) {
  const LookupSegment& s = params.segment;
  const unsigned row_bytes = OutputRowBytes(s);
  char* out = static_cast<char*>(s.output) +
              static_cast<uint64_t>(first_row) * row_bytes;
  if (s.table_type != s.output_type) {
    ConvertRowsOf<kRelaxed>(s, list, count, row_bytes, out, lane);
    return;
  }
  const unsigned magic = params.unit_magic;
  switch (CommonUnit(row_bytes, 16)) {
    case 16:
      return CopyRows<int4, kRelaxed, kInFlight>(list, count, row_bytes / 16,
                                                 magic, out, lane);
    case 4:
      return CopyRows<unsigned, kRelaxed, 4>(list, count, row_bytes / 4, magic,
                                             out, lane);
    case 2:
      return CopyRows<unsigned short, kRelaxed, 4>(list, count, row_bytes / 2,
                                                   magic, out, lane);
    default:
      return CopyRows<unsigned char, kRelaxed, 4>(list, count, row_bytes, magic,
                                                  out, lane);
  }
}

template <bool kHashed, Variant kVariant, int kCapacity, int kNumKeys>
__device__ __forceinline__ KeyFate LookUpWarp(
    const BatchParams<kCapacity, kNumKeys>& batch, const SegmentParams& params,
    uint32_t first, RowList& list, unsigned lane) {
  constexpr bool kGeneral = kVariant == Variant::kGeneral;
  const LookupSegment& s = params.segment;
  const uint32_t count = min(params.items_per_warp, s.num_keys - first);
  bool mine = lane < count;
  int64_t key = 0;
  if (mine) {
    key = kNumKeys != 0 ? batch.keys[params.first_key + first + lane]
                        : __ldg(s.keys + first + lane);
  }
  if (kGeneral && batch.only_shard != kAllShards) {
    mine = mine && OwnerOf(s.table, key) == batch.only_shard;
  }
  const bool hashed = kHashed && s.table.index != nullptr;
  if (!kGeneral && hashed && params.items_per_warp == kWarpSize) {
    return CopyHashedRows(params, batch.this_shard, first, key, mine, list,
                          lane);
  }
  RowPlace place;
  if (!hashed) {
    place = FindDense(s.table, key);
  } else if (kGeneral && batch.only_shard != kAllShards) {
    place = FindSome<Buckets::kOfWanted>(params, key, mine, lane);
  } else {
    place = FindSome<Buckets::kOfAll>(params, key, mine, lane);
  }

  const KeyFate fate = FateOf(place, mine, batch.this_shard);
  NoteMissing(s, fate, first, lane);

  if (kGeneral) {
    const unsigned listed = __ballot_sync(kFullWarp, mine);
    if (mine) {
      const unsigned i = __popc(listed & ((1u << lane) - 1));
      list.rows[i] = place.row;
      list.places[i] = lane;
    }
    __syncwarp();
    const RowStamp stamp(s.table, place, mine);
    const unsigned num_rows = __popc(listed);
    if (hashed) {
      WriteAnyRows<true, kHashedInFlight>(params, list, num_rows, first, lane);
    } else {
      WriteAnyRows<false, kDenseInFlight>(params, list, num_rows, first, lane);
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

inline uint32_t KeysPerWarp(const LookupSegment& s, bool all_shards) {
  // A dense warp copies two parts a lane; fewer measured worse, and more, too.
  constexpr uint32_t kDenseParts = kDenseInFlight * kWarpSize;
  // Few keys are spread over more warps, for the shorter way of each.
  constexpr uint32_t kSmallSegment = 16384;
  constexpr uint32_t kMediumSegment = 131072;
  if (s.table.index != nullptr) {
    return s.num_keys <= kSmallSegment    ? 8
           : s.num_keys <= kMediumSegment ? 16
                                          : kWarpSize;
  }
  // Of a batch that is split, some keys are others'.
  if (!all_shards && s.num_keys > kSmallSegment) return kWarpSize;
  uint32_t keys = 8;
  while (keys < kWarpSize && keys * s.table.row_stride / 16 < kDenseParts) {
    keys *= 2;
  }
  return keys;
}

template <bool kHashed, Variant kVariant, int kCapacity, int kNumKeys>
cudaError_t LaunchSized(const LookupPart& part, cudaStream_t stream) {
  BatchParams<kCapacity, kNumKeys> params;
  const bool all_shards = part.batch->only_shard == kAllShards;
  const uint32_t num_blocks = FillParams<kBlockThreads>(
      part, &params, [&](const LookupSegment& s, SegmentParams* p) {
        const unsigned row_bytes = OutputRowBytes(s);
        p->items_per_warp = KeysPerWarp(s, all_shards);
        p->units_per_row = row_bytes / CommonUnit(row_bytes, 16);
        p->unit_magic = CeilReciprocal(p->units_per_row);
        return s.num_keys;
      });
  return LaunchAndReport<kBlockThreads>(
      LookupRowsKernel<kHashed, kVariant, kCapacity, kNumKeys>, num_blocks,
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
