#include "core/cuda/free_ranges.h"

#include <iterator>
#include <map>
#include <optional>
#include <random>

#include <catch2/catch.hpp>

namespace gatherd {
namespace {

TEST_CASE("The lowest range that fits is taken, neighbours grow together") {
  FreeRanges free(100);
  CHECK(free.Take(10) == 0);
  CHECK(free.Take(20) == 10);
  CHECK(free.Take(30) == 30);
  CHECK(free.Take(40) == 60);
  CHECK(free.Take(1) == std::nullopt);
  free.GiveBack(10, 20);
  free.GiveBack(60, 40);
  CHECK(free.num_ranges() == 2);
  CHECK(free.Take(30) == 60);  // 10 stay behind it
  CHECK(free.Take(20) == 10);
  CHECK(free.largest() == 10);
  free.GiveBack(10, 20);
  free.GiveBack(60, 30);
  free.GiveBack(30, 30);
  CHECK(free.num_ranges() == 1);
  CHECK(free.largest() == 90);
  free.GiveBack(0, 10);
  CHECK(free.num_ranges() == 1);
  CHECK(free.total() == 100);
}

TEST_CASE("Nothing can be taken of nothing") {
  FreeRanges free(0);
  CHECK(free.Take(1) == std::nullopt);
  CHECK(free.largest() == 0);
}

constexpr uint64_t kSize = uint64_t{1} << 40;

// What is taken, kept apart from what is tested.
using Taken = std::map<uint64_t, uint64_t>;  // begin to size

bool Overlaps(const Taken& taken, uint64_t begin, uint64_t size) {
  const auto next = taken.lower_bound(begin);
  if (next != taken.end() && begin + size > next->first) return true;
  if (next == taken.begin()) return false;
  const auto previous = std::prev(next);
  return previous->first + previous->second > begin;
}

void TakeAndGiveBack(FreeRanges& free, Taken& taken, uint64_t& total,
                     std::mt19937_64& random) {
  if (random() % 5 < 3) {
    const uint64_t size = 1 + (random() >> (24 + random() % 36)) % kSize;
    const auto begin = free.Take(size);
    if (!begin.has_value()) {
      REQUIRE(free.largest() < size);
      return;
    }
    REQUIRE_FALSE(Overlaps(taken, *begin, size));
    REQUIRE(*begin + size <= kSize);
    taken[*begin] = size;
    total += size;
  } else if (!taken.empty()) {
    auto victim = taken.lower_bound(random() % kSize);
    if (victim == taken.end()) victim = taken.begin();
    free.GiveBack(victim->first, victim->second);
    total -= victim->second;
    taken.erase(victim);
  }
}

TEST_CASE("Ranges that are taken never overlap; given back, they are one") {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 20; ++round) {
    FreeRanges free(kSize);
    Taken taken;
    uint64_t total = 0;
    for (int step = 0; step < 2000; ++step) {
      TakeAndGiveBack(free, taken, total, random);
      REQUIRE(free.total() == kSize - total);
      // Between two free ranges something is taken.
      REQUIRE(free.num_ranges() <= taken.size() + 1);
    }
    for (const auto& [begin, size] : taken) free.GiveBack(begin, size);
    REQUIRE(free.num_ranges() == 1);
    REQUIRE(free.largest() == kSize);
  }
}

}  // namespace
}  // namespace gatherd
