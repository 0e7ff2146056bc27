// Device side of lookups: which rows the keys of a warp name, and where those
// rows lie. lookup_rows.cu and lookup_bags.cu say what is done with them.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_CUH_

#include "core/kernels/key_place.h"
#include "core/kernels/memory_order.cuh"

namespace gatherd::kernels {

inline constexpr unsigned kFullWarp = 0xffffffffu;
inline constexpr unsigned kWarpSize = 32;

// A row by address. The default row has no shard.
struct RowPlace {
  const char* row;
  int32_t shard;      // kNoShard: the key is missing
  uint32_t slot = 0;  // hashed tables: of the shard's row array
};
inline constexpr int32_t kNoShard = -1;

__device__ __forceinline__ uint64_t DivideBy(uint64_t x,
                                             const ShardDivider& d) {
  return d.num_shards == 1 ? x : __umul64hi(x, d.magic);
}

__device__ __forceinline__ RowPlace FindDense(const TableRef& t, int64_t key) {
  const uint64_t row = static_cast<uint64_t>(key);  // negative: huge
  if (row >= t.num_rows) return {t.default_row, kNoShard};
  const uint64_t stripe = row >> kStripeShift;
  const uint64_t round = DivideBy(stripe, t.shards);
  const uint64_t shard = stripe - round * t.shards.num_shards;
  const uint64_t local =
      (round << kStripeShift) | (row & ((1u << kStripeShift) - 1));
  return {t.rows + shard * t.rows_shard_bytes + local * t.row_stride,
          static_cast<int32_t>(shard)};
}

// One step of a search by a warp: group g of eight lanes reads the bucket of
// lane `from` (the same for the group) and tells, on every lane, what it
// found: the entry's lane in `source` and whether there was one.
struct BucketRead {
  unsigned hits;       // ballot: lanes whose entry is the key's
  unsigned overflows;  // ballot: lanes 0, 8, 16, 24 whose bucket overflowed
  uint32_t row;        // of this lane's entry
};

__device__ __forceinline__ BucketRead Examine(const IndexEntry& entry,
                                              int64_t key, bool wanted,
                                              unsigned lane) {
  const bool hit =
      wanted && entry.key == key && (entry.meta & kStateMask) == kValid;
  BucketRead read;
  read.hits = __ballot_sync(kFullWarp, hit);
  read.overflows = __ballot_sync(
      kFullWarp, (lane & 7) == 0 && (entry.meta >> kOverflowShift) != 0);
  read.row = entry.row;
  return read;
}

// Looks in the second buckets for the keys of the lanes in `todo`, four keys a
// step. Returns this lane's row + 1, or `found` as it was.
__device__ __noinline__ inline uint32_t FindInSecond(
    uint64_t index, int64_t key, uint32_t second, unsigned todo, uint32_t found,
    unsigned lane) {
  // The second look may not come before the first: an entry that moved on
  // meanwhile would be missed in both.
  FenceAcquireRelease();
  while (todo != 0) {
    unsigned rest = todo;
    for (unsigned g = 0; g < lane / 8; g++) rest &= rest - 1;
    const unsigned from = rest != 0 ? __ffs(rest) - 1 : 0;
    const uint64_t base = __shfl_sync(kFullWarp, index, from);
    const uint32_t bucket = __shfl_sync(kFullWarp, second, from);
    const int64_t k = __shfl_sync(kFullWarp, key, from);
    const IndexEntry entry = LoadEntry(
        reinterpret_cast<const IndexEntry*>(base) +
        static_cast<uint64_t>(bucket) * kEntriesPerBucket + (lane & 7));
    const BucketRead read = Examine(entry, k, rest != 0, lane);
#pragma unroll
    for (unsigned g = 0; g < 4; g++) {
      const unsigned hits = (read.hits >> (8 * g)) & 255;
      const unsigned target = __shfl_sync(kFullWarp, from, 8 * g);
      const unsigned source = hits != 0 ? __ffs(hits) - 1 + 8 * g : 0;
      const uint32_t row = __shfl_sync(kFullWarp, read.row, source);
      if (hits != 0 && lane == target) found = row + 1;
    }
    for (int g = 0; g < 4; g++) todo &= todo - 1;
  }
  return found;
}

// Finds the keys of a warp, one a lane (`wanted`), in a hashed table: eight
// lanes a bucket, four buckets a step, all kSteps * 4 buckets in flight. Keys
// stand in the first kSteps * 4 lanes. All lanes of the warp must call.
template <int kSteps>
__device__ __forceinline__ RowPlace FindHashed(const TableRef& t, int64_t key,
                                               bool wanted, unsigned lane) {
  const KeyPlace place = PlaceOf(key, t);
  const uint64_t index =
      reinterpret_cast<uint64_t>(t.index) + place.shard * t.index_shard_bytes;
  uint32_t found = 0;  // row + 1
  bool again = false;
  IndexEntry entries[kSteps];
#pragma unroll
  for (int r = 0; r < kSteps; r++) {
    const unsigned from = r * 4 + lane / 8;
    const uint64_t base = __shfl_sync(kFullWarp, index, from);
    const uint32_t bucket = __shfl_sync(kFullWarp, place.first, from);
    entries[r] = LoadEntry(reinterpret_cast<const IndexEntry*>(base) +
                           static_cast<uint64_t>(bucket) * kEntriesPerBucket +
                           (lane & 7));
  }
#pragma unroll
  for (int r = 0; r < kSteps; r++) {
    const int64_t k = __shfl_sync(kFullWarp, key, r * 4 + lane / 8);
    const BucketRead read = Examine(entries[r], k, true, lane);
    // Lanes 4r ... 4r+3 asked; lane 4r+g is answered by lanes 8g ... 8g+7.
    const unsigned g = lane & 3;
    const unsigned hits = (read.hits >> (8 * g)) & 255;
    const unsigned source = hits != 0 ? __ffs(hits) - 1 + 8 * g : 0;
    const uint32_t row = __shfl_sync(kFullWarp, read.row, source);
    if (lane / 4 == static_cast<unsigned>(r)) {
      found = hits != 0 ? row + 1 : 0;
      again = hits == 0 && ((read.overflows >> (8 * g)) & 1) != 0;
    }
  }
  const unsigned todo = __ballot_sync(kFullWarp, again && wanted);
  if (todo != 0) {
    found = FindInSecond(index, key, place.second, todo, found, lane);
  }
  // The row may not be read before the entry that names it. Who writes to the
  // only shard of a table runs on its GPU.
  if (t.shards.num_shards == 1) {
    FenceOnGpu();
  } else {
    FenceAcquireRelease();
  }
  if (found == 0) return {t.default_row, kNoShard};
  return {t.rows + place.shard * t.rows_shard_bytes +
              static_cast<uint64_t>(found - 1) * t.row_stride,
          static_cast<int32_t>(place.shard), found - 1};
}

// The shard that owns a key, whether there is a row or not; kNoShard for a key
// out of a dense table's range, which belongs to shard 0.
__device__ __forceinline__ int32_t OwnerOf(const TableRef& t, int64_t key) {
  if (t.index != nullptr) return static_cast<int32_t>(PlaceOf(key, t).shard);
  const int32_t shard = FindDense(t, key).shard;
  return shard == kNoShard ? 0 : shard;
}

// i / n for i * n < 2^32; magic = CeilReciprocal(n), see lookup.h.
__device__ __forceinline__ unsigned FastDivide(unsigned i, unsigned n,
                                               unsigned magic) {
  return n == 1 ? i : __umulhi(i, magic);
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_CUH_
