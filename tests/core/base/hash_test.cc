#include "core/base/hash.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/base/fnv1a.h"

namespace gatherd {
namespace {

// What the standard's test vectors give.
TEST_CASE("Fnv1a64 gives the published hashes, as signed numbers") {
  CHECK(static_cast<uint64_t>(Fnv1a64("")) == 0xcbf29ce484222325);
  CHECK(static_cast<uint64_t>(Fnv1a64("a")) == 0xaf63dc4c8601ec8c);
  CHECK(static_cast<uint64_t>(Fnv1a64("foobar")) == 0x85944171f73967e8);
  CHECK(Fnv1a64("a") == -5808556873153909620);
  // A byte above 127 counts as 128 ... 255, whatever the sign of char.
  CHECK(static_cast<uint64_t>(Fnv1a64("\xff")) ==
        (0xcbf29ce484222325 ^ 0xff) * 0x100000001b3);
}

// Chi-squared statistic of the buckets, in standard deviations from its mean.
double Unevenness(const std::vector<uint64_t>& counts, double num_keys) {
  const double mean = num_keys / static_cast<double>(counts.size());
  double chi_squared = 0;
  for (const uint64_t count : counts) {
    const double off = static_cast<double>(count) - mean;
    chi_squared += off * off / mean;
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (chi_squared - freedom) / std::sqrt(2 * freedom);
}

TEST_CASE("MixKey spreads patterned keys like random ones, by any bits") {
  constexpr int kBucketBits = 12;
  constexpr int64_t kNumKeys = 400'000;
  const int64_t stride =
      GENERATE(int64_t{1}, int64_t{64}, int64_t{4096}, int64_t{1} << 32,
               int64_t{1} << 40, int64_t{-1}, int64_t{1'000'003});
  const int shift = GENERATE(0, 7, 20, 32, 52);
  const uint64_t seed = GENERATE(uint64_t{0}, uint64_t{0x123456789abcdef});
  CAPTURE(stride, shift, seed);
  std::vector<uint64_t> counts(size_t{1} << kBucketBits);
  for (int64_t i = 0; i < kNumKeys; ++i) {
    const auto key = static_cast<int64_t>(static_cast<uint64_t>(i) *
                                          static_cast<uint64_t>(stride));
    ++counts[(MixKey(key, seed) >> shift) & (counts.size() - 1)];
  }
  CHECK(std::abs(Unevenness(counts, kNumKeys)) < 6);
}

TEST_CASE("MixKey flips half of all bits for any bit of key or seed") {
  std::mt19937_64 random(7);
  constexpr int kTrials = 4000;
  for (int bit = 0; bit < 64; ++bit) {
    int key_flips = 0;
    int seed_flips = 0;
    for (int i = 0; i < kTrials; ++i) {
      const auto key = static_cast<int64_t>(random());
      const uint64_t seed = random();
      const auto other_key = static_cast<int64_t>(static_cast<uint64_t>(key) ^
                                                  (uint64_t{1} << bit));
      const uint64_t hash = MixKey(key, seed);
      key_flips += __builtin_popcountll(hash ^ MixKey(other_key, seed));
      seed_flips +=
          __builtin_popcountll(hash ^ MixKey(key, seed ^ (uint64_t{1} << bit)));
    }
    CAPTURE(bit);
    CHECK(key_flips == Approx(32 * kTrials).epsilon(0.02));
    CHECK(seed_flips == Approx(32 * kTrials).epsilon(0.02));
  }
}

}  // namespace
}  // namespace gatherd
