// Keys in [0, rows) for a benchmark: uniform, or Zipf with the popular ones
// strewn over the whole range (as hashed ids are; neighbours in popularity
// would otherwise share cache lines and shards).
#ifndef GATHERD_CLIENT_BENCH_KEY_GENERATOR_H_
#define GATHERD_CLIENT_BENCH_KEY_GENERATOR_H_

#include <cstdint>
#include <optional>

#include "absl/random/bit_gen_ref.h"
#include "absl/random/zipf_distribution.h"

namespace gatherd::client {

class KeyGenerator {
 public:
  // Uniform. rows >= 1.
  explicit KeyGenerator(uint64_t rows);
  // The i-th most popular key (from 0) has a share in proportion to
  // (i + 1)^-exponent; exponent > 1.
  KeyGenerator(uint64_t rows, double exponent);

  int64_t Next(absl::BitGenRef random);

  // The key that is the `rank`-th most popular; a bijection on [0, rows).
  int64_t KeyOfRank(uint64_t rank) const;

 private:
  uint64_t rows_;
  uint64_t stride_;  // coprime to rows_
  std::optional<absl::zipf_distribution<uint64_t>> zipf_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_KEY_GENERATOR_H_
