// Where a key of a hashed table may lie. For the host and for kernels.
//
// A key has two candidate buckets of its owning shard; it lies in its second
// only if the first was full when it came, and then entry 0 of the first
// counts it as overflowed. Readers look at the first bucket, then, if its
// count is not zero, at the second. Entries move from the first to the second
// while readers run (the copy is made before the original goes, and readers
// look in that order), never the other way round.
#ifndef GATHERD_CORE_KERNELS_KEY_PLACE_H_
#define GATHERD_CORE_KERNELS_KEY_PLACE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/kernels/table_ref.h"

namespace gatherd::kernels {

__host__ __device__ inline uint64_t MixKey(int64_t key, uint64_t seed) {
  // MurmurHash3's 64-bit finaliser over the seeded key.
  uint64_t h = static_cast<uint64_t>(key) ^ seed;
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdull;
  h ^= h >> 33;
  h *= 0xc4ceb9fe1a85ec53ull;
  h ^= h >> 33;
  return h;
}

struct KeyPlace {
  uint32_t shard;
  uint32_t first;   // bucket
  uint32_t second;  // another bucket, unless there is only one
};

__host__ __device__ inline uint32_t ScaleTo(uint32_t x, uint32_t n) {
  return static_cast<uint32_t>((static_cast<uint64_t>(x) * n) >> 32);
}

__host__ __device__ inline KeyPlace PlaceOf(int64_t key, const TableRef& t) {
  const uint64_t h = MixKey(key, t.seed);
  const uint32_t high = static_cast<uint32_t>(h >> 32);
  const uint32_t low = static_cast<uint32_t>(h);
  KeyPlace place;
  place.first = ScaleTo(high, t.num_buckets);
  place.second = ScaleTo(low, t.num_buckets);
  if (place.second == place.first) {
    place.second = place.first + 1 == t.num_buckets ? 0 : place.first + 1;
  }
  // Bits that the buckets hardly use.
  place.shard = t.shards.num_shards == 1
                    ? 0
                    : ScaleTo(high * 0x9e3779b1u ^ low, t.shards.num_shards);
  return place;
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_KEY_PLACE_H_
