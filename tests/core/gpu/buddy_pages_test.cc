#include "core/gpu/buddy_pages.h"

#include <catch2/catch.hpp>
#include <random>
#include <utility>
#include <vector>

namespace gatherd {
namespace {

TEST_CASE("A block is halved down to what is asked for") {
  BuddyPages pages(8);
  CHECK(pages.Take(1) == 0u);
  CHECK(pages.Take(1) == 1u);
  CHECK(pages.Take(4) == 4u);
  CHECK(pages.num_free() == 2);
  CHECK(pages.Take(4) == std::nullopt);
  CHECK(pages.Take(2) == 2u);
  CHECK(pages.Take(1) == std::nullopt);
}

TEST_CASE("Free halves are joined at once") {
  BuddyPages pages(8);
  for (uint32_t i = 0; i < 8; ++i) REQUIRE(pages.Take(1).has_value());
  for (const uint32_t first : {3, 0, 6, 5, 2, 1, 7}) pages.GiveBack(first, 1);
  CHECK(pages.Take(8) == std::nullopt);  // page 4 is in use
  pages.GiveBack(4, 1);
  CHECK(pages.Take(8) == 0u);
}

TEST_CASE("Three quarters of a block leave its last quarter") {
  BuddyPages pages(16);
  CHECK(pages.Take(12) == 0u);
  CHECK(pages.num_free() == 4);
  CHECK(pages.Take(3) == 12u);
  CHECK(pages.Take(1) == 15u);
  pages.GiveBack(0, 12);
  pages.GiveBack(15, 1);
  CHECK(pages.Take(16) == std::nullopt);
  pages.GiveBack(12, 3);
  CHECK(pages.Take(16) == 0u);
}

TEST_CASE("Any number of pages is divided, and put together again") {
  BuddyPages pages(13);  // 8, 4 and 1
  CHECK(pages.Take(8) == 0u);
  CHECK(pages.Take(4) == 8u);
  CHECK(pages.Take(1) == 12u);
  CHECK(pages.num_free() == 0);
  pages.GiveBack(12, 1);
  pages.GiveBack(8, 4);
  pages.GiveBack(0, 8);
  CHECK(pages.num_free() == 13);
  CHECK(pages.Take(16) == std::nullopt);
  CHECK(pages.Take(8) == 0u);
}

TEST_CASE("Nothing comes out of nothing, nor more than there is") {
  BuddyPages none(0);
  CHECK(none.Take(1) == std::nullopt);
  BuddyPages pages(4);
  CHECK(pages.Take(uint32_t{1} << 31) == std::nullopt);
  CHECK(pages.Take(uint32_t{3} << 30) == std::nullopt);
  CHECK(pages.num_free() == 4);
}

TEST_CASE("Blocks never overlap, whatever comes and goes") {
  constexpr uint32_t kNumPages = 1000;
  std::mt19937 random(7);
  BuddyPages pages(kNumPages);
  std::vector<bool> used(kNumPages);
  std::vector<std::pair<uint32_t, uint32_t>> blocks;
  uint32_t num_used = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0) {
      const uint32_t size = (random() % 2 == 0 ? 1 : 3) << random() % 6;
      const auto first = pages.Take(size);
      if (!first.has_value()) continue;
      for (uint32_t i = *first; i < *first + size; ++i) {
        REQUIRE(i < kNumPages);
        REQUIRE_FALSE(used[i]);
        used[i] = true;
      }
      blocks.push_back({*first, size});
      num_used += size;
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      const auto [first, size] = blocks.back();
      blocks.pop_back();
      for (uint32_t i = first; i < first + size; ++i) used[i] = false;
      pages.GiveBack(first, size);
      num_used -= size;
    }
    REQUIRE(pages.num_free() == kNumPages - num_used);
  }
  for (const auto& [first, size] : blocks) pages.GiveBack(first, size);
  CHECK(pages.Take(512) == 0u);
  CHECK(pages.Take(256) == 512u);
}

}  // namespace
}  // namespace gatherd
