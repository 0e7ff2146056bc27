// The mix behind every hashed table: where a key lives follows from it.
#ifndef GATHERD_CORE_BASE_HASH_H_
#define GATHERD_CORE_BASE_HASH_H_

#include <cstdint>

namespace gatherd {

// 64 bits of which any part is as good as random, for keys of any pattern:
// strided, sequential, different in their upper half alone. `seed` is secret
// and drawn anew for each table, or a client could pick keys that collide.
//
// Two rounds of a 128-bit product folded by xor; the function is wyhash64 of
// Wang Yi's wyhash, final version 4 (public domain), with its default secret.
// Not a bijection: different keys can share all 64 bits.
constexpr uint64_t MixKey(int64_t key, uint64_t seed) {
  __extension__ using Uint128 = unsigned __int128;
  constexpr uint64_t kSecret0 = 0xa0761d6478bd642f;
  constexpr uint64_t kSecret1 = 0xe7037ed1a0b428db;
  const Uint128 first =
      static_cast<Uint128>(static_cast<uint64_t>(key) ^ kSecret0) *
      (seed ^ kSecret1);
  const uint64_t low = static_cast<uint64_t>(first);
  const uint64_t high = static_cast<uint64_t>(first >> 64);
  const Uint128 second =
      static_cast<Uint128>(low ^ kSecret0) * (high ^ kSecret1);
  return static_cast<uint64_t>(second) ^ static_cast<uint64_t>(second >> 64);
}

}  // namespace gatherd

#endif  // GATHERD_CORE_BASE_HASH_H_
