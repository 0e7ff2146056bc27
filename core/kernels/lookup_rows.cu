// Lookup without pooling. Grid: blocks of 256 threads over the keys of all
// segments, one after another; a warp takes 8 keys of a dense table or 32 (8 in
// small segments) of a hashed one. Bytes moved a key: 8 read, 128 of the index
// if hashed (1.13 lines at load 0.9), the row read, the row written. Bound by
// HBM: 0.95 to 1.04 of the ceiling programs, see docs/benchmarks.md.
#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_rows.cuh"
#include "core/kernels/lookup_stamps.cuh"

namespace gatherd::kernels {
namespace {

// Parts of 16 bytes in flight a lane. Two measured best for dense rows, four
// for hashed ones.
constexpr int kDenseInFlight = 2;
constexpr int kHashedInFlight = 4;

// kPlain: every row goes out as it is, in 16-byte parts, whoever owns it, and
// none is stamped. Half the registers of kGeneral, and what most requests ask
// for.
enum class Variant { kPlain, kGeneral };

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

template <bool kHashed, Variant kVariant, int kCapacity>
__device__ __forceinline__ KeyFate
LookUpWarp(const BatchParams<kCapacity>& batch, const SegmentParams& params,
           uint32_t first, RowList& list, unsigned lane) {
  constexpr bool kGeneral = kVariant == Variant::kGeneral;
  const LookupSegment& s = params.segment;
  const uint32_t count = min(params.items_per_warp, s.num_keys - first);
  bool mine = lane < count;
  const int64_t key = mine ? __ldg(s.keys + first + lane) : 0;
  if (kGeneral && batch.only_shard != kAllShards) {
    mine = mine && OwnerOf(s.table, key) == batch.only_shard;
  }
  const bool hashed = kHashed && s.table.index != nullptr;
  RowPlace place;
  if (!hashed) {
    place = FindDense(s.table, key);
  } else if (params.items_per_warp == kWarpSize) {
    place = FindHashed<8>(s.table, key, mine, lane);
  } else {
    place = FindHashed<2>(s.table, key, mine, lane);
  }

  KeyFate fate = KeyFate::kNoKey;
  if (mine) {
    fate = place.shard == kNoShard           ? KeyFate::kMissing
           : place.shard == batch.this_shard ? KeyFate::kLocal
                                             : KeyFate::kRemote;
  }
  const unsigned missing = __ballot_sync(kFullWarp, fate == KeyFate::kMissing);
  // A word is shared by warps of fewer than 32 keys.
  if (missing != 0 && lane == 0) {
    atomicOr(s.missing + first / 32, missing << (first % 32));
  }

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

template <bool kHashed, Variant kVariant, int kCapacity>
__global__ void __launch_bounds__(kBlockThreads)
    LookupRowsKernel(const __grid_constant__ BatchParams<kCapacity> batch) {
  __shared__ RowList lists[kWarpsPerBlock];
  const unsigned warp = threadIdx.x / kWarpSize;
  const SegmentParams& params = SegmentOfBlock(batch);
  const uint32_t first =
      ((blockIdx.x - params.first_block) * kWarpsPerBlock + warp) *
      params.items_per_warp;
  KeyFate fate = KeyFate::kNoKey;
  if (first < params.segment.num_keys) {
    fate = LookUpWarp<kHashed, kVariant>(batch, params, first, lists[warp],
                                         threadIdx.x % kWarpSize);
  }
  CountKeys(batch.counters == nullptr ? nullptr : batch.counters + params.index,
            fate, params.segment.table.shards.num_shards > 1);
  FinishBlock(batch.report);
}

bool IsPlain(const LookupSegment& s) {
  return s.table_type == s.output_type && OutputRowBytes(s) % 16 == 0 &&
         s.table.stamps == nullptr;
}

uint32_t KeysPerWarp(const LookupSegment& s) {
  // A dense warp copies two parts a lane; fewer measured worse, and more, too.
  constexpr uint32_t kDenseParts = kDenseInFlight * kWarpSize;
  // Few keys are spread over more warps, for the shorter way of each.
  constexpr uint32_t kSmallSegment = 16384;
  if (s.table.index != nullptr) return s.num_keys <= kSmallSegment ? 8 : 32;
  uint32_t keys = 8;
  while (keys < kWarpSize && keys * s.table.row_stride / 16 < kDenseParts) {
    keys *= 2;
  }
  return keys;
}

template <bool kHashed, Variant kVariant, int kCapacity>
cudaError_t Launch(const LookupPart& part, cudaStream_t stream) {
  BatchParams<kCapacity> params;
  const uint32_t num_blocks =
      FillParams(part, &params, [](const LookupSegment& s, SegmentParams* p) {
        const unsigned row_bytes = OutputRowBytes(s);
        p->items_per_warp = KeysPerWarp(s);
        p->units_per_row = row_bytes / CommonUnit(row_bytes, 16);
        p->unit_magic = CeilReciprocal(p->units_per_row);
        return s.num_keys;
      });
  LookupRowsKernel<kHashed, kVariant, kCapacity>
      <<<num_blocks, kBlockThreads, 0, stream>>>(params);
  return cudaGetLastError();
}

template <bool kHashed>
cudaError_t LaunchFitting(const LookupPart& part, bool plain,
                          cudaStream_t stream) {
  // A small parameter block costs less to launch.
  const int num = part.num_segments;
  if (!plain) {
    return Launch<kHashed, Variant::kGeneral, kMaxSegments>(part, stream);
  }
  if (num <= 1) return Launch<kHashed, Variant::kPlain, 1>(part, stream);
  if (num <= 32) return Launch<kHashed, Variant::kPlain, 32>(part, stream);
  return Launch<kHashed, Variant::kPlain, kMaxSegments>(part, stream);
}

}  // namespace

cudaError_t LaunchLookupRows(const LookupPart& part, cudaStream_t stream) {
  bool hashed = false;
  bool plain = part.batch->only_shard == kAllShards;
  for (int i = 0; i < part.num_segments; i++) {
    hashed = hashed || part.segment(i).table.index != nullptr;
    plain = plain && IsPlain(part.segment(i));
  }
  return hashed ? LaunchFitting<true>(part, plain, stream)
                : LaunchFitting<false>(part, plain, stream);
}

}  // namespace gatherd::kernels
