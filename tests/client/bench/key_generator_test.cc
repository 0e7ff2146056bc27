#include "client/bench/key_generator.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace gatherd::client {

TEST_CASE("Ranks map to every key once, and neighbours lie apart") {
  for (const uint64_t rows : {1, 2, 3, 10, 64, 1000, 1024, 9973}) {
    const KeyGenerator keys(rows);
    std::vector<bool> seen(rows);
    for (uint64_t rank = 0; rank < rows; ++rank) {
      const int64_t key = keys.KeyOfRank(rank);
      REQUIRE(key >= 0);
      REQUIRE(static_cast<uint64_t>(key) < rows);
      seen[key] = true;
    }
    CHECK(std::count(seen.begin(), seen.end(), true) ==
          static_cast<int64_t>(rows));
  }
  const KeyGenerator keys(1'000'000);
  for (uint64_t rank = 0; rank < 10; ++rank) {
    CHECK(std::abs(keys.KeyOfRank(rank) - keys.KeyOfRank(rank + 1)) > 100'000);
  }
}

TEST_CASE("A range beyond 32 bits does not wrap") {
  const uint64_t rows = uint64_t{1} << 40;
  std::mt19937_64 random(1);
  KeyGenerator uniform(rows);
  KeyGenerator zipf(rows, 1.05);
  int64_t largest = 0;
  for (int i = 0; i < 1000; ++i) {
    for (KeyGenerator* keys : {&uniform, &zipf}) {
      const int64_t key = keys->Next(random);
      REQUIRE(key >= 0);
      REQUIRE(static_cast<uint64_t>(key) < rows);
      largest = std::max(largest, key);
    }
  }
  CHECK(largest > int64_t{1} << 39);
}

TEST_CASE("Uniform keys are uniform") {
  constexpr uint64_t kRows = 100;
  constexpr int kDraws = 100'000;
  std::mt19937_64 random(1);
  KeyGenerator keys(kRows);
  std::vector<int> counts(kRows);
  for (int i = 0; i < kDraws; ++i) ++counts[keys.Next(random)];
  // Six standard deviations of a binomial with p = 1/100.
  for (const int count : counts) CHECK(std::abs(count - 1000) < 190);
}

TEST_CASE("Zipf keys have the shares that the exponent says") {
  constexpr uint64_t kRows = 1000;
  constexpr int kDraws = 200'000;
  constexpr double kExponent = 1.05;
  std::mt19937_64 random(1);
  KeyGenerator keys(kRows, kExponent);
  std::vector<int> counts(kRows);
  for (int i = 0; i < kDraws; ++i) ++counts[keys.Next(random)];
  double total = 0;
  for (uint64_t rank = 0; rank < kRows; ++rank) {
    total += std::pow(static_cast<double>(rank + 1), -kExponent);
  }
  for (const uint64_t rank : {0, 1, 2, 5, 10, 50}) {
    const double expected =
        kDraws * std::pow(static_cast<double>(rank + 1), -kExponent) / total;
    INFO("rank " << rank << ", expected " << expected);
    CHECK(std::abs(counts[keys.KeyOfRank(rank)] - expected) <
          6 * std::sqrt(expected));
  }
}

TEST_CASE("One row has one key") {
  std::mt19937_64 random(1);
  CHECK(KeyGenerator(1).Next(random) == 0);
  CHECK(KeyGenerator(1, 1.05).Next(random) == 0);
}

}  // namespace gatherd::client
