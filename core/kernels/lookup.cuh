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
  if (t.shards.num_shards == 1) return {t.rows + row * t.row_stride, 0};
  const uint64_t stripe = row >> kStripeShift;
  const uint64_t round = DivideBy(stripe, t.shards);
  const uint64_t shard = stripe - round * t.shards.num_shards;
  const uint64_t local =
      (round << kStripeShift) | (row & ((1u << kStripeShift) - 1));
  return {t.rows + shard * t.rows_shard_bytes + local * t.row_stride,
          static_cast<int32_t>(shard)};
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
