// Pooled lookup: device side.
//
// A group of lanes sums the rows of one bag, each lane one 16-byte part of
// them; a warp has as many groups as fit. Each lane also finds the row of one
// key of its bag at a time and lists it in shared memory, from where its whole
// group takes it. Rows are added in the order of keys, product and sum each
// rounded to float32, so that the result is the CPU's, bit for bit.
//
// Grid: blocks of 64 threads over the items of all segments, one after another;
// an item is a bag, or 32 parts of a bag whose rows have more. Bytes moved a
// key: 8, the index line if hashed, the row. Bound by HBM or L2.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_BAGS_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_BAGS_CUH_

#include "core/kernels/batch_params.cuh"
#include "core/kernels/find_hashed.cuh"
#include "core/kernels/lookup_stamps.cuh"
#include "core/kernels/store.cuh"

namespace gatherd::kernels {

// Small, as a block keeps its place until its last bag is done: 4 % over 256
// where keys are skewed.
inline constexpr int kBagThreads = 64;
inline constexpr int kBagWarps = kBagThreads / kWarpSize;

struct BagRows {
  const char* rows[kWarpSize];
  float weights[kWarpSize];
  float scales[kWarpSize];
};

// What a lane works on.
struct BagItem {
  uint32_t begin = 0;  // the bag's keys: [begin, end)
  uint32_t end = 0;
  uint32_t part = 0;
  bool has_part = false;
  bool counts = false;  // whether its keys are counted and stamped, too
};

// Rows that a lane has asked for before it adds the first: what measured best
// of what registers allow.
template <class Row, bool kHashed>
constexpr int kBagRowsInFlight = Row::kElements > 8              ? 3
                                 : Row::kElements > 4 || kHashed ? 4
                                                                 : 6;

// How rows are read. Skewed keys gain by L1 (17 against 12 G keys/s by Zipf's
// law), others lose (7.5 against 8.0).
enum class RowLoad {
  kRelaxed,  // of a hashed table
  kThrough,  // past L1
  kCached,
};

// What the kernel's parameters tell of all items of a warp.
struct BagSegment {
  const LookupSegment& segment;
  LookupCounters* counters;  // the segment's, or null
  int32_t this_shard;
};

__device__ __forceinline__ void NoteKey(const BagSegment& from, uint32_t at,
                                        const RowPlace& place, bool counts,
                                        unsigned lane) {
  const LookupSegment& s = from.segment;
  const bool missing = counts && place.shard == kNoShard;
  const unsigned all_missing = __ballot_sync(kFullWarp, missing);
  if (missing) atomicOr(s.missing + at / 32, 1u << (at % 32));
  if (all_missing != 0 && lane == 0 && from.counters != nullptr) {
    atomicAdd(&from.counters->num_missing, __popc(all_missing));
  }
  if (s.table.shards.num_shards == 1) return;
  const bool local = counts && place.shard == from.this_shard;
  const unsigned all_local = __ballot_sync(kFullWarp, local);
  const unsigned all_remote =
      __ballot_sync(kFullWarp, counts && !missing && !local);
  if (lane != 0 || from.counters == nullptr) return;
  if (all_local != 0) atomicAdd(&from.counters->num_local, __popc(all_local));
  if (all_remote != 0) {
    atomicAdd(&from.counters->num_remote, __popc(all_remote));
  }
}

// Finds the keys of this warp that are next in their bags and lists their rows.
// Returns whether a row is listed twice.
template <class Row, bool kHashed>
__device__ __forceinline__ bool ListRows(const BagSegment& from,
                                         const BagItem& item, uint32_t at,
                                         int64_t key, BagRows& list,
                                         unsigned lane) {
  const LookupSegment& s = from.segment;
  const bool valid = at < item.end;
  const bool hashed = kHashed && s.table.index != nullptr;
  const RowPlace place =
      hashed ? FindHashed<8, Reach::kNode>(s.table, key, valid, lane)
             : FindDense(s.table, key);
  NoteKey(from, at, place, valid && item.counts, lane);
  if (hashed && s.table.stamps != nullptr) {
    RowStamp(s.table, place, valid && item.counts).Write();
  }
  __syncwarp();  // everybody has read the last round's list
  list.rows[lane] = place.row;
  if (s.weights != nullptr) list.weights[lane] = valid ? s.weights[at] : 0.0f;
  if (Row::kHasScale) {
    list.scales[lane] = hashed ? LoadScale<true>(place.row, s.dim)
                               : LoadScale<false>(place.row, s.dim);
  }
  __syncwarp();
  if (hashed) return false;
  // The low bits: that others look equal costs nothing but time.
  const unsigned row = static_cast<unsigned>(
      reinterpret_cast<uint64_t>(place.row) / sizeof(int4));
  const unsigned same = __match_any_sync(kFullWarp, valid ? row : lane);
  return __any_sync(kFullWarp, (same & (same - 1)) != 0) != 0;
}

template <RowLoad kLoad>
__device__ __forceinline__ int4 LoadBagPart(const char* row, uint32_t part) {
  const int4* const from = reinterpret_cast<const int4*>(row) + part;
  if (kLoad == RowLoad::kCached) return __ldg(from);
  return LoadPart<kLoad == RowLoad::kRelaxed>(from);
}

template <class Row>
__device__ __forceinline__ void AddRow(const BagRows& list, unsigned i,
                                       const int4& part, bool weighted,
                                       float* sum) {
  constexpr int kElements = Row::kElements;
  float values[kElements];
  Row::Unpack(part, Row::kHasScale ? list.scales[i] : 0.0f, values);
  const float weight = weighted ? list.weights[i] : 1.0f;
#pragma unroll
  for (int e = 0; e < kElements; e++) {
    // Times 1 would change nothing but the payload of a NaN.
    const float term = weighted ? __fmul_rn(weight, values[e]) : values[e];
    sum[e] = __fadd_rn(sum[e], term);
  }
}

// Adds `count` listed rows from `first` on. A row that was added makes place
// for the next to be loaded.
template <class Row, RowLoad kLoad, int kInFlight>
__device__ __forceinline__ void AddListed(const BagRows& list, unsigned first,
                                          unsigned count, uint32_t part,
                                          bool weighted, float* sum) {
  int4 v[kInFlight];
#pragma unroll
  for (int u = 0; u < kInFlight; u++) {
    if (u < count) v[u] = LoadBagPart<kLoad>(list.rows[first + u], part);
  }
  const unsigned end = first + count;
  unsigned i = first;
  for (; i + 2 * kInFlight <= end; i += kInFlight) {
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      AddRow<Row>(list, i + u, v[u], weighted, sum);
      v[u] = LoadBagPart<kLoad>(list.rows[i + kInFlight + u], part);
    }
  }
  for (; i < end; i += kInFlight) {
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      if (i + u >= end) break;
      AddRow<Row>(list, i + u, v[u], weighted, sum);
      if (i + kInFlight + u < end) {
        v[u] = LoadBagPart<kLoad>(list.rows[i + kInFlight + u], part);
      }
    }
  }
}

// The pooled values of this lane's part. All lanes of the warp must call.
template <class Row, bool kHashed>
__device__ __forceinline__ void PoolPart(const BagSegment& from,
                                         const BagItem& item, unsigned group,
                                         BagRows& list, unsigned lane,
                                         float* sum) {
  const LookupSegment& s = from.segment;
#pragma unroll
  for (int i = 0; i < Row::kElements; i++) sum[i] = 0.0f;
  constexpr int kInFlight = kBagRowsInFlight<Row, kHashed>;
  const bool weighted = s.weights != nullptr;
  const bool hashed = kHashed && s.table.index != nullptr;
  const unsigned first = lane & ~(group - 1);
  float total_weight = 0.0f;
  uint32_t longest = item.end - item.begin;  // of the bags of this warp
  for (unsigned d = group; d < kWarpSize; d *= 2) {
    longest = max(longest, __shfl_xor_sync(kFullWarp, longest, d));
  }
  uint32_t mine = item.begin + (lane - first);
  int64_t key = mine < item.end ? __ldg(s.keys + mine) : 0;
  for (uint32_t j = 0; j < longest; j += group) {
    const uint32_t at = item.begin + j;
    const bool repeats =
        ListRows<Row, kHashed>(from, item, mine, key, list, lane);
    // The next key is on its way while rows are added.
    mine += group;
    if (mine < item.end) key = __ldg(s.keys + mine);
    const unsigned count = at < item.end ? min(group, item.end - at) : 0;
    if (item.has_part) {
      if (hashed) {
        AddListed<Row, RowLoad::kRelaxed, kInFlight>(list, first, count,
                                                     item.part, weighted, sum);
      } else if (repeats) {
        AddListed<Row, RowLoad::kCached, kInFlight>(list, first, count,
                                                    item.part, weighted, sum);
      } else {
        AddListed<Row, RowLoad::kThrough, kInFlight>(list, first, count,
                                                     item.part, weighted, sum);
      }
    }
    if (weighted && s.pooling == PoolingMode::kMean) {
      for (unsigned i = 0; i < count; i++) {
        total_weight = __fadd_rn(total_weight, list.weights[first + i]);
      }
    }
  }
  if (s.pooling != PoolingMode::kMean) return;
  if (!weighted) total_weight = static_cast<float>(item.end - item.begin);
#pragma unroll
  for (int i = 0; i < Row::kElements; i++) {
    sum[i] = total_weight == 0.0f ? 0.0f : __fdiv_rn(sum[i], total_weight);
  }
}

template <class Row>
__device__ __forceinline__ float PartMagnitude(const float* values,
                                               uint32_t part, uint32_t dim) {
  float largest = 0.0f;
#pragma unroll
  for (int i = 0; i < Row::kElements; i++) {
    if (part * Row::kElements + i < dim) {
      largest = fmaxf(largest, FiniteMagnitude(values[i]));
    }
  }
  return largest;
}

template <class Row, bool kToInt8>
__device__ __forceinline__ void StorePart(const LookupSegment& s, char* row,
                                          unsigned row_bytes, uint32_t part,
                                          const float* values, float scale) {
  constexpr int kElements = Row::kElements;
  const uint32_t left = s.dim - part * kElements;
  const uint32_t n = left < kElements ? left : kElements;
  if (kToInt8 && s.output_type == ElementType::kInt8) {
    StoreQuantized<kElements>(row + part * kElements, values, scale, n);
    return;
  }
  const unsigned element_bytes = s.output_type == ElementType::kFloat32 ? 4 : 2;
  StoreElements<kElements>(s.output_type,
                           row + part * kElements * element_bytes, values, n,
                           CommonUnit(row_bytes, kElements * element_bytes));
}

// Rows of more than 32 parts to int8: the scale needs the whole row, so one
// warp goes over the bag once for it and once more to write.
template <class Row, bool kHashed>
__device__ __noinline__ void PoolWideToInt8(const BagSegment& from,
                                            BagItem item, uint32_t num_parts,
                                            char* row, BagRows& list,
                                            unsigned lane) {
  const LookupSegment& s = from.segment;
  float scale = 0.0f;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t first = 0; first < num_parts; first += kWarpSize) {
      item.part = first + lane;
      item.has_part = item.part < num_parts;
      item.counts = pass == 0 && first == 0;
      float sum[Row::kElements];
      PoolPart<Row, kHashed>(from, item, kWarpSize, list, lane, sum);
      if (!item.has_part) continue;
      if (pass == 0) {
        scale = fmaxf(scale, PartMagnitude<Row>(sum, item.part, s.dim));
      } else {
        StorePart<Row, true>(s, row, s.dim + 4, item.part, sum, scale);
      }
    }
    if (pass == 1) break;
    for (unsigned d = 1; d < kWarpSize; d *= 2) {
      scale = fmaxf(scale, __shfl_xor_sync(kFullWarp, scale, d));
    }
    scale = __fdiv_rn(scale, 127.0f);
  }
  if (lane == 0) StoreScale(row + s.dim, scale);
}

template <class Row, bool kHashed, bool kToInt8>
__device__ __forceinline__ void PoolWarp(const SegmentParams& params,
                                         const BagSegment& from, uint32_t first,
                                         BagRows& list, unsigned lane) {
  const LookupSegment& s = params.segment;
  const uint32_t num_parts = (s.dim + Row::kElements - 1) / Row::kElements;
  const unsigned row_bytes = OutputRowBytes(s);
  const unsigned group = kWarpSize / params.items_per_warp;
  // Of a bag whose rows have more than 32 parts.
  const uint32_t items_per_bag = params.units_per_row;
  const uint32_t item_number = first + lane / group;
  const uint32_t bag =
      FastDivide(item_number, items_per_bag, params.unit_magic);
  const bool live = bag < s.num_bags;

  BagItem item;
  if (live) {
    item.begin = __ldg(s.offsets + bag);
    item.end = bag + 1 < s.num_bags ? __ldg(s.offsets + bag + 1) : s.num_keys;
    const uint32_t block = item_number - bag * items_per_bag;
    item.part = block * kWarpSize + (lane & (group - 1));
    item.has_part = item.part < num_parts;
    item.counts = block == 0;
  }
  char* row = static_cast<char*>(s.output) +
              static_cast<uint64_t>(live ? bag : 0) * row_bytes;
  const bool to_int8 = kToInt8 && s.output_type == ElementType::kInt8;
  if (to_int8 && num_parts > kWarpSize) {
    PoolWideToInt8<Row, kHashed>(from, item, num_parts, row, list, lane);
    return;
  }
  float sum[Row::kElements];
  PoolPart<Row, kHashed>(from, item, group, list, lane, sum);
  float scale = 0.0f;
  if (to_int8) {
    scale = item.has_part ? PartMagnitude<Row>(sum, item.part, s.dim) : 0.0f;
    for (unsigned d = 1; d < group; d *= 2) {
      scale = fmaxf(scale, __shfl_xor_sync(kFullWarp, scale, d));
    }
    scale = __fdiv_rn(scale, 127.0f);
    if (live && (lane & (group - 1)) == 0) StoreScale(row + s.dim, scale);
  }
  if (item.has_part) {
    StorePart<Row, kToInt8>(s, row, row_bytes, item.part, sum, scale);
  }
}

// kToInt8: some segment's output is int8. Kept apart for its registers.
template <class Row, bool kHashed, bool kToInt8, int kCapacity>
__global__ void __launch_bounds__(kBagThreads, kToInt8 ? 8 : 16)
    LookupBagsKernel(const __grid_constant__ BatchParams<kCapacity> batch) {
  __shared__ BagRows lists[kBagWarps];
  const unsigned warp = threadIdx.x / kWarpSize;
  const uint32_t segment = SegmentOfBlock(batch);
  const SegmentParams& params = batch.segments[segment];
  const uint32_t first =
      ((blockIdx.x - batch.first_blocks[segment]) * kBagWarps + warp) *
      params.items_per_warp;
  if (first < params.segment.num_bags * params.units_per_row) {
    LookupCounters* const counters =
        batch.counters == nullptr ? nullptr : batch.counters + params.index;
    PoolWarp<Row, kHashed, kToInt8>(
        params, {params.segment, counters, batch.this_shard}, first,
        lists[warp], threadIdx.x % kWarpSize);
  }
  __syncthreads();
  FinishBlock(batch.report, true);
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_BAGS_CUH_
