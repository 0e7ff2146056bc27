#include "core/gpu/eviction_shares.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace gatherd {
namespace {

using Shares = std::vector<uint64_t>;

TEST_CASE("nothing leaves while there is room") {
  CHECK(ShareEvictions({{5, 5, 0}}, 10, 10) == Shares{0});
  CHECK(ShareEvictions({{5, 2, 3}, {2, 1, 0}}, 10, 8) == Shares{0, 0});
}

TEST_CASE("one shard gives what the table is short of") {
  CHECK(ShareEvictions({{10, 3, 2}}, 10, 10) == Shares{3});
  CHECK(ShareEvictions({{9, 3, 0}}, 10, 10) == Shares{2});
  CHECK(ShareEvictions({{1, 1, 0}}, 1, 1) == Shares{1});
}

TEST_CASE("the fullest shard gives first, whoever gets the new keys") {
  CHECK(ShareEvictions({{6, 0, 0}, {4, 2, 0}}, 10, 10) == Shares{1, 1});
  CHECK(ShareEvictions({{8, 0, 0}, {2, 2, 0}}, 10, 10) == Shares{2, 0});
  const Shares odd = ShareEvictions({{5, 0, 0}, {5, 1, 0}}, 10, 10);
  CHECK(odd[0] + odd[1] == 1);
}

TEST_CASE("a shard that is full itself gives although the table is not") {
  CHECK(ShareEvictions({{8, 2, 0}, {1, 0, 0}}, 16, 9) == Shares{1, 0});
}

TEST_CASE("keys of the write stay") {
  // The first shard has nothing else.
  CHECK(ShareEvictions({{6, 1, 6}, {4, 0, 0}}, 10, 8) == Shares{0, 1});
}

TEST_CASE("any write that fits by itself finds room, and no more than that") {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    const size_t num_shards = 1 + random() % 8;
    const uint64_t max_shard_rows = 20 + random() % 50;
    std::vector<ShardLoad> shards(num_shards);
    uint64_t num_rows = 0;
    uint64_t num_keys = 0;
    for (ShardLoad& shard : shards) {
      shard.num_rows = random() % (max_shard_rows + 1);
      shard.num_existing = random() % (shard.num_rows + 1);
      shard.num_absent = random() % (max_shard_rows - shard.num_existing + 1);
      num_rows += shard.num_rows;
      num_keys += shard.num_existing + shard.num_absent;
    }
    const uint64_t max_rows = std::max(num_rows, num_keys) + random() % 5;
    const Shares shares = ShareEvictions(shards, max_rows, max_shard_rows);
    REQUIRE(shares.size() == num_shards);
    uint64_t sum_after = 0;
    bool is_forced = false;  // by the limit of a shard
    uint64_t num_gone = 0;
    for (size_t i = 0; i < num_shards; ++i) {
      REQUIRE(shares[i] <= shards[i].num_rows - shards[i].num_existing);
      const uint64_t after =
          shards[i].num_rows + shards[i].num_absent - shares[i];
      REQUIRE(after <= max_shard_rows);
      is_forced = is_forced || (shares[i] > 0 && after == max_shard_rows);
      sum_after += after;
      num_gone += shares[i];
    }
    REQUIRE(sum_after <= max_rows);
    if (num_gone > 0 && !is_forced) REQUIRE(sum_after == max_rows);
  }
}

}  // namespace
}  // namespace gatherd
