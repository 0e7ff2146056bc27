// How lookups without pooling are laid out over blocks and warps.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_SHAPE_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_SHAPE_CUH_

#include <algorithm>
#include <cstdint>

#include "core/kernels/batch_params.cuh"
#include "core/kernels/store.cuh"

namespace gatherd::kernels {

inline constexpr int kWarpsPerBlock = kBlockThreads / kWarpSize;

// Parts of 16 bytes of rows in flight a lane: what measured best.
inline constexpr int kDenseInFlight = 2;
inline constexpr int kHashedInFlight = 4;

// kPlain: every row goes out as it is, in 16-byte parts, and none is stamped.
// Half the registers of kGeneral, and what most requests ask for.
enum class Variant { kPlain, kGeneral };

// How many blocks shall fit on an SM. Five would leave hashed plain rows too
// few registers for looking at second buckets while rows are on their way.
template <bool kHashed, Variant kVariant>
inline constexpr int kBlocksPerSm =
    kHashed&& kVariant == Variant::kPlain ? 4 : 1;

inline bool IsPlain(const LookupSegment& s) {
  return s.table_type == s.output_type && OutputRowBytes(s) % 16 == 0 &&
         s.table.stamps == nullptr;
}

// Of `num_keys` of a segment's keys that are answered by one GPU.
inline uint32_t KeysPerWarp(const LookupSegment& s, uint32_t num_keys) {
  // A dense warp copies two parts a lane; fewer measured worse, and more, too.
  constexpr uint32_t kDenseParts = kDenseInFlight * kWarpSize;
  // Few keys are spread over more warps, for the shorter way of each.
  constexpr uint32_t kSmallSegment = 16384;
  constexpr uint32_t kMediumSegment = 131072;
  if (s.table.index != nullptr) {
    return num_keys <= kSmallSegment    ? 8
           : num_keys <= kMediumSegment ? 16
                                        : kWarpSize;
  }
  uint32_t keys = 8;
  while (keys < kWarpSize && keys * s.table.row_stride / 16 < kDenseParts) {
    keys *= 2;
  }
  return keys;
}

// A block that answers for one shard's keys.
struct OwnedShape {
  uint32_t keys_per_block;  // of all shards; a multiple of 32
  uint32_t owned_per_warp;  // of a hashed table, at a time: 8, 16 or 32
};

// Dense parts in flight a thread; two were 4 % slower at dim 32, equal at 128.
inline constexpr int kOwnedDenseInFlight = 4;

// How many keys of its shard a block shall find among its keys, on average.
inline uint32_t OwnedPerBlock(const LookupSegment& s, uint32_t num_owned,
                              uint32_t per_warp) {
  // Seven eighths of what warps answer at once: chance seldom makes it more.
  if (s.table.index != nullptr) return per_warp * (kWarpsPerBlock - 1);
  // Seven parts a thread measured best of 1 to 16; two, if there are few, for
  // more blocks.
  constexpr uint32_t kMostParts = 7 * kBlockThreads;
  constexpr uint32_t kFewestParts = 2 * kBlockThreads;
  constexpr uint32_t kManyBlocks = 512;
  const uint32_t parts = s.table.row_stride / 16;
  return std::clamp(num_owned / kManyBlocks, kFewestParts / parts,
                    kMostParts / parts);
}

inline OwnedShape ShapeOfOwned(const LookupSegment& s) {
  // More shards have blocks with fewer keys of each.
  constexpr uint32_t kMaxBlockShards = 8;
  constexpr uint32_t kMaxKeysPerBlock = 2048;  // 20 KiB of shared memory
  const uint32_t num_shards = s.table.shards.num_shards;
  const uint32_t num_owned = s.num_keys / num_shards;
  OwnedShape shape;
  shape.owned_per_warp = KeysPerWarp(s, num_owned);
  const uint32_t keys = OwnedPerBlock(s, num_owned, shape.owned_per_warp) *
                        std::min(num_shards, kMaxBlockShards);
  shape.keys_per_block =
      std::clamp<uint32_t>(keys / 32 * 32, 32, kMaxKeysPerBlock);
  return shape;
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_SHAPE_CUH_
