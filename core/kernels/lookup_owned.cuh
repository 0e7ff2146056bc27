// Lookup without pooling by the GPU of one shard, which answers for that
// shard's keys alone: the kernel of batches that are divided by owner.
//
// Grid: blocks of 256 threads over the keys of all segments, one after another.
// A block takes keys for as many shards as there are, up to eight, and lists
// those that its shard owns in shared memory: for that it needs the keys alone.
// Then all its lanes find and copy the rows of listed keys. Bytes moved a
// listed key: 8 for each shard, and as in lookup_rows_kernel.cuh.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_OWNED_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_OWNED_CUH_

#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_rows.cuh"
#include "core/kernels/lookup_rows_hashed.cuh"
#include "core/kernels/lookup_shape.cuh"
#include "core/kernels/lookup_stamps.cuh"
#include "core/kernels/owned_list.cuh"

namespace gatherd::kernels {

// Copies the rows of a block's listed keys of a dense table, in 16-byte parts,
// to the output from the block's first row on. All threads call.
template <int kInFlight>
__device__ __forceinline__ void CopyOwnedRows(const OwnedList& list,
                                              const SegmentParams& params,
                                              int4* out) {
  const unsigned parts_per_row = params.units_per_row;
  const unsigned total = list.counts->num_owned * parts_per_row;
  for (unsigned start = threadIdx.x; start < total;
       start += kBlockThreads * kInFlight) {
    int4 parts[kInFlight];
    unsigned places[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      const unsigned i = start + u * kBlockThreads;
      if (i >= total) continue;
      const unsigned r = FastDivide(i, parts_per_row, params.unit_magic);
      const unsigned part = i - r * parts_per_row;
      parts[u] =
          LoadConstant(reinterpret_cast<const int4*>(list.what[r].row) + part);
      places[u] = list.places[r] * parts_per_row + part;
    }
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      if (start + u * kBlockThreads < total) __stcs(out + places[u], parts[u]);
    }
  }
}

// Notes the key of this lane, the block's key `place`, if it is missing. Where
// this is not called all keys of a segment are there, or ListOwned has noted
// those that are not.
__device__ __forceinline__ void NoteOwned(const LookupSegment& s,
                                          const OwnedList& list, bool missing,
                                          uint32_t key) {
  if (!missing) return;
  atomicOr(s.missing + key / 32, 1u << (key % 32));
  atomicAdd(&list.counts->num_missing, 1);
}

// Copies the rows of as many listed keys of a hashed table as a block's warps
// take at once, dividing them evenly.
__device__ __forceinline__ void CopyOwnedHashedRows(const SegmentParams& params,
                                                    const OwnedList& list,
                                                    uint32_t first,
                                                    RowList& rows,
                                                    unsigned lane) {
  const unsigned num_owned = list.counts->num_owned;
  const unsigned step =
      min(kWarpSize, (num_owned + kWarpsPerBlock - 1) / kWarpsPerBlock);
  const unsigned begin = threadIdx.x / kWarpSize * step;
  if (begin >= num_owned) return;
  const bool mine = lane < min(step, num_owned - begin);
  const unsigned listed = begin + (mine ? lane : 0);
  const RowPlace found =
      CopyHashedRows<Reach::kShard>(params, first, list.what[listed].key,
                                    list.places[listed], mine, rows, lane);
  // The place is read again rather than kept in a register.
  NoteOwned(params.segment, list, mine && found.shard == kNoShard,
            first + list.places[listed]);
}

// Answers the listed keys from `begin` on in any way, each warp `step` at a
// time: up to 32, and of a hashed table 8, 16 or 32.
template <bool kHashed, Variant kVariant>
__device__ __forceinline__ void AnswerOwned(const SegmentParams& params,
                                            const OwnedList& list,
                                            unsigned begin, unsigned step,
                                            uint32_t first, RowList& rows,
                                            unsigned lane) {
  const LookupSegment& s = params.segment;
  const bool hashed = kHashed && s.table.index != nullptr;
  for (unsigned at = begin + threadIdx.x / kWarpSize * step;
       at < list.counts->num_owned; at += kWarpsPerBlock * step) {
    const unsigned num_rows = min(step, list.counts->num_owned - at);
    const bool mine = lane < num_rows;
    const unsigned listed = at + (mine ? lane : 0);
    const OwnedList::What what = list.what[listed];
    RowPlace found = {what.row, 0};
    if (hashed) {
      found = FindSome<Reach::kShard>(s.table, step, what.key, mine, lane);
      NoteOwned(s, list, mine && found.shard == kNoShard,
                first + list.places[listed]);
    }
    __syncwarp();  // all have read the last round's rows
    rows.rows[lane] = found.row;
    rows.places[lane] = list.places[listed];
    __syncwarp();
    if (kVariant == Variant::kPlain) {
      const unsigned parts = params.units_per_row;
      CopyRows<int4, true, kHashedInFlight>(
          rows, num_rows, parts, params.unit_magic,
          static_cast<char*>(s.output) + uint64_t{first} * parts * 16, lane);
    } else if (hashed) {
      const RowStamp stamp(s.table, found, mine);
      WriteAnyRows<true, kHashedInFlight>(params, rows, num_rows, first, lane);
      stamp.Write();
    } else {
      WriteAnyRows<false, kDenseInFlight>(params, rows, num_rows, first, lane);
    }
  }
}

// Answers all listed keys of a block. All threads call.
template <bool kHashed, Variant kVariant>
__device__ __forceinline__ void AnswerBlock(const SegmentParams& params,
                                            const OwnedList& list,
                                            uint32_t first, RowList& rows) {
  const LookupSegment& s = params.segment;
  const unsigned lane = threadIdx.x % kWarpSize;
  unsigned begin = 0;
  unsigned step = params.owned_per_warp;
  if (kVariant == Variant::kPlain) {
    if (!kHashed || s.table.index == nullptr) {
      int4* const out = static_cast<int4*>(s.output);
      CopyOwnedRows<kOwnedDenseInFlight>(
          list, params, out + uint64_t{first} * params.units_per_row);
      return;
    }
    if (step == kWarpSize) {
      // Once, and not in a loop, which would spill a third of the registers:
      // what chance put into the block beyond that is seldom, and little.
      CopyOwnedHashedRows(params, list, first, rows, lane);
      begin = kBlockThreads;
      step = 8;
    }
  } else if (!kHashed || s.table.index == nullptr) {
    step = min(kWarpSize,
               (list.counts->num_owned + kWarpsPerBlock - 1) / kWarpsPerBlock);
  }
  AnswerOwned<kHashed, kVariant>(params, list, begin, step, first, rows, lane);
}

// How many blocks shall fit on an SM, if rows are more than copied.
inline constexpr int kGeneralOwnedBlocksPerSm = 3;

template <bool kHashed, Variant kVariant, int kCapacity>
__global__ void __launch_bounds__(kBlockThreads,
                                  kVariant == Variant::kPlain
                                      ? kBlocksPerSm<kHashed, kVariant>
                                      : kGeneralOwnedBlocksPerSm)
    LookupOwnedKernel(const __grid_constant__ BatchParams<kCapacity> batch) {
  extern __shared__ uint64_t listed[];  // of an OwnedList
  __shared__ OwnedCounts counts;
  __shared__ RowList rows[kWarpsPerBlock];
  const uint32_t segment = SegmentOfBlock(batch);
  const SegmentParams& params = batch.segments[segment];
  const LookupSegment& s = params.segment;
  const uint32_t keys_per_block = params.items_per_warp * kWarpsPerBlock;
  const uint32_t first =
      (blockIdx.x - batch.first_blocks[segment]) * keys_per_block;
  if (first < s.num_keys) {
    const OwnedList list = {
        reinterpret_cast<OwnedList::What*>(listed),
        reinterpret_cast<uint16_t*>(listed + keys_per_block), &counts};
    ListOwned<kHashed>(s, batch.only_shard, first,
                       min(keys_per_block, s.num_keys - first), list);
    __syncthreads();
    AnswerBlock<kHashed, kVariant>(params, list, first,
                                   rows[threadIdx.x / kWarpSize]);
  }
  __syncthreads();
  bool counted = false;
  if (threadIdx.x == 0 && first < s.num_keys && batch.counters != nullptr &&
      counts.num_owned != 0) {
    LookupCounters* const counters = batch.counters + params.index;
    const unsigned found = counts.num_owned - counts.num_missing;
    if (counts.num_missing != 0) {
      atomicAdd(&counters->num_missing, counts.num_missing);
    }
    if (s.table.shards.num_shards > 1 && found != 0) {
      atomicAdd(batch.only_shard == batch.this_shard ? &counters->num_local
                                                     : &counters->num_remote,
                found);
    }
    counted = true;
  }
  FinishBlock(batch.report, counted);
}

template <bool kHashed, Variant kVariant, int kCapacity>
cudaError_t LaunchOwnedSized(const LookupPart& part, cudaStream_t stream) {
  BatchParams<kCapacity> params;
  uint32_t most_keys = 0;  // of a block
  const uint32_t num_blocks = FillParams<kBlockThreads>(
      part, &params, [&](const LookupSegment& s, SegmentParams* p) {
        const unsigned row_bytes = OutputRowBytes(s);
        const OwnedShape shape = ShapeOfOwned(s);
        p->items_per_warp = shape.keys_per_block / kWarpsPerBlock;
        p->owned_per_warp = shape.owned_per_warp;
        p->units_per_row = row_bytes / CommonUnit(row_bytes, 16);
        p->unit_magic = CeilReciprocal(p->units_per_row);
        most_keys = std::max(most_keys, shape.keys_per_block);
        return s.num_keys;
      });
  return LaunchAndReport<kBlockThreads>(
      LookupOwnedKernel<kHashed, kVariant, kCapacity>, num_blocks,
      most_keys * OwnedList::kBytesPerKey, &params, stream);
}

template <bool kHashed, Variant kVariant>
cudaError_t LaunchOwned(const LookupPart& part, cudaStream_t stream) {
  const int num_slices = part.num_slices * part.num_segments;
  if (num_slices <= 1)
    return LaunchOwnedSized<kHashed, kVariant, 1>(part, stream);
  if (num_slices <= kFewSegments) {
    return LaunchOwnedSized<kHashed, kVariant, kFewSegments>(part, stream);
  }
  return LaunchOwnedSized<kHashed, kVariant, kMaxSegments>(part, stream);
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_OWNED_CUH_
