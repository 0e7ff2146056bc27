// Stamps, and the rows that leave by them.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "core/kernels/stamp.h"
#include "tests/gpu/write_rig.h"

namespace gatherd::kernels {
namespace {

constexpr uint32_t kLfu = 0;  // TableRef::now

RigOptions Evicting(uint32_t num_keys, double load = 0.85) {
  RigOptions options;
  options.num_rows = num_keys + num_keys / 4;
  options.num_buckets = static_cast<uint32_t>(static_cast<double>(num_keys) /
                                              load / kEntriesPerBucket) +
                        1;
  options.dim = 4;
  options.has_stamps = true;
  return options;
}

std::vector<int64_t> Range(int64_t first, uint32_t count) {
  std::vector<int64_t> keys(count);
  for (int64_t& key : keys) key = first++;
  return keys;
}

void Set(WriteRig& rig, const std::vector<int64_t>& keys,
         WriteMode mode = WriteMode::kSet) {
  const std::vector<char> row = MakeRow(ElementType::kFloat32, 4, 1);
  std::vector<char> rows;
  for (size_t i = 0; i < keys.size(); i++) {
    rows.insert(rows.end(), row.begin(), row.end());
  }
  REQUIRE(rig.Update(keys, rows, ElementType::kFloat32, mode).num_failed == 0);
}

// By key.
std::map<int64_t, uint32_t> Stamps(const WriteRig& rig, uint32_t shard = 0) {
  const std::vector<uint32_t> stamps = rig.ReadStamps(shard);
  std::map<int64_t, uint32_t> by_key;
  for (const auto& [key, row] : rig.ReadIndex(shard)) by_key[key] = stamps[row];
  return by_key;
}

// Stamps below 2^32 by row slot; near `now` for LRU, also those past it.
void WriteRandomStamps(WriteRig& rig, uint32_t shard, uint32_t now,
                       uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> stamps(rig.ReadStamps(shard).size());
  for (uint32_t& stamp : stamps) {
    const auto drawn = static_cast<uint32_t>(random());
    stamp = now == kLfu ? 1 + drawn % 50 : now - drawn % 300 + 20;
  }
  rig.WriteStamps(shard, stamps);
}

// The row slots of a shard in the order of leaving, but for those of `stay`.
std::vector<uint32_t> InOrderOfLeaving(const WriteRig& rig, uint32_t shard,
                                       const std::set<int64_t>& stay) {
  const std::vector<uint32_t> stamps = rig.ReadStamps(shard);
  std::vector<uint32_t> rows;
  for (const auto& [key, row] : rig.ReadIndex(shard)) {
    if (stay.count(key) == 0) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    const uint32_t coldness_a = Coldness(stamps[a], rig.table().now);
    const uint32_t coldness_b = Coldness(stamps[b], rig.table().now);
    return coldness_a != coldness_b ? coldness_a > coldness_b : a < b;
  });
  return rows;
}

void CheckIndex(WriteRig& rig, size_t num_keys) {
  const WriteRig::IndexUse use = rig.CountIndex();
  CHECK(use.num_valid == num_keys);
  CHECK(use.num_filling == 0);
  CHECK(use.num_protected == 0);
  std::vector<int64_t> keys;
  for (uint32_t shard = 0; shard < rig.table().shards.num_shards; shard++) {
    for (const auto& entry : rig.ReadIndex(shard)) keys.push_back(entry.first);
  }
  std::vector<bool> missing;
  rig.Lookup(keys, ElementType::kFloat32, &missing);
  CHECK(std::count(missing.begin(), missing.end(), true) == 0);
}

TEST_CASE("writes and lookups stamp rows by time") {
  WriteRig rig(Evicting(100));
  rig.set_now(7);
  Set(rig, {1, 2, 3, 4});
  rig.set_now(9);
  Set(rig, {2, 5});
  std::vector<bool> missing;
  rig.set_now(11);
  rig.Lookup({3, 77}, ElementType::kFloat32, &missing);
  CHECK(Stamps(rig) ==
        std::map<int64_t, uint32_t>{{1, 7}, {2, 9}, {3, 11}, {4, 7}, {5, 9}});
  rig.Erase({1, 4});
  CHECK(Stamps(rig) == std::map<int64_t, uint32_t>{{2, 9}, {3, 11}, {5, 9}});
  // Of the rows erased and replaced nothing is left.
  const std::vector<uint32_t> stamps = rig.ReadStamps(0);
  CHECK(std::count(stamps.begin(), stamps.end(), 0u) ==
        static_cast<int64_t>(stamps.size()) - 3);
}

TEST_CASE("writes and lookups count the uses of rows") {
  WriteRig rig(Evicting(100));
  rig.set_now(kLfu);
  Set(rig, {1, 2, 3});
  std::vector<bool> missing;
  for (int i = 0; i < 5; i++) {
    rig.Lookup({1, 77}, ElementType::kFloat32, &missing);
  }
  Set(rig, {1, 2}, WriteMode::kAdd);
  Set(rig, {2, 9}, WriteMode::kSetExisting);
  CHECK(Stamps(rig) == std::map<int64_t, uint32_t>{{1, 7}, {2, 3}, {3, 1}});
  std::vector<uint32_t> stamps = rig.ReadStamps(0);
  CHECK(std::count(stamps.begin(), stamps.end(), 0u) ==
        static_cast<int64_t>(stamps.size()) - 3);
  std::fill(stamps.begin(), stamps.end(), 0xffffffffu);
  rig.WriteStamps(0, stamps);
  Set(rig, {1});
  CHECK(Stamps(rig)[1] == 0xffffffffu);
}

TEST_CASE("a small shard gives up exactly its coldest rows") {
  constexpr uint32_t kNumKeys = 1200;
  const uint32_t now = GENERATE(0u, 5000u, 100u);  // 100: stamps wrapped
  RigOptions options = Evicting(kNumKeys);
  options.num_shards = GENERATE(1, 2);
  CAPTURE(now, options.num_shards);
  WriteRig rig(options);
  REQUIRE(options.num_buckets * kEntriesPerBucket <= kExactPlaces);
  rig.set_now(now);
  const std::vector<int64_t> keys = Range(-600, kNumKeys * options.num_shards);
  Set(rig, keys);
  size_t num_left = keys.size();
  for (uint32_t shard = 0; shard < options.num_shards; shard++) {
    WriteRandomStamps(rig, shard, now, shard);
    // Every third key is written again, some are new or repeated.
    std::vector<int64_t> batch = {5, 5, 1 << 20, 1 << 21};
    for (size_t i = 0; i < keys.size(); i += 3) batch.push_back(keys[i]);
    const std::vector<uint32_t> order =
        InOrderOfLeaving(rig, shard, {batch.begin(), batch.end()});
    EvictionRequest request;
    request.num_rows = 100;
    const std::vector<uint32_t> gone = rig.Evict(shard, batch, request);
    CHECK(gone == std::vector<uint32_t>(order.begin(), order.begin() + 100));
    num_left -= 100;
    const std::vector<uint32_t> stamps = rig.ReadStamps(shard);
    for (const uint32_t row : gone) CHECK(stamps[row] == 0);
  }
  CheckIndex(rig, num_left);
}

TEST_CASE("a large shard gives up cold rows") {
  constexpr uint32_t kNumKeys = 40000, kNumEvicted = 4000;
  const uint32_t now = GENERATE(0u, 100000u);
  CAPTURE(now);
  WriteRig rig(Evicting(kNumKeys));
  rig.set_now(now);
  Set(rig, Range(0, kNumKeys));
  // The key is the warmth: no two are alike.
  std::vector<uint32_t> stamps = rig.ReadStamps(0);
  std::map<uint32_t, int64_t> key_of_row;
  for (const auto& [key, row] : rig.ReadIndex(0)) {
    stamps[row] = static_cast<uint32_t>(key) + 1;
    key_of_row[row] = key;
  }
  rig.WriteStamps(0, stamps);
  // The coldest 2000 and 6000 new ones.
  const std::vector<int64_t> batch = Range(-6000, 8000);
  EvictionRequest request;
  request.num_rows = kNumEvicted;
  request.seed = 77;
  const std::vector<uint32_t> gone = rig.Evict(0, batch, request);
  REQUIRE(gone.size() == kNumEvicted);
  REQUIRE(std::set<uint32_t>(gone.begin(), gone.end()).size() == kNumEvicted);
  const std::map<int64_t, uint32_t> left = rig.ReadIndex(0);
  int64_t num_of_batch = 0, num_warm = 0, num_there = 0;
  for (const uint32_t row : gone) {
    const int64_t key = key_of_row.at(row);
    if (key < 2000) num_of_batch++;
    if (key >= kNumKeys / 2) num_warm++;
    if (left.count(key) != 0) num_there++;
  }
  CHECK(num_of_batch == 0);
  CHECK(num_warm == 0);
  CHECK(num_there == 0);
  CheckIndex(rig, kNumKeys - kNumEvicted);
  rig.Erase(Range(0, kNumKeys));
  CHECK(rig.CountIndex().overflows == 0);
}

TEST_CASE("all but the batch's own rows can go") {
  const uint32_t num_keys = GENERATE(500, 20000);
  CAPTURE(num_keys);
  WriteRig rig(Evicting(num_keys));
  rig.set_now(3);
  Set(rig, Range(0, num_keys));
  EvictionRequest request;
  request.num_rows = num_keys;
  request.seed = 5;
  CHECK(rig.Evict(0, Range(0, 100), request).size() == num_keys - 100);
  CheckIndex(rig, 100);
  CHECK(rig.Evict(0, Range(0, 100), request).empty());
  request.num_rows = 60;
  CHECK(rig.Evict(0, {}, request).size() == 60);
  request.num_rows = 0;
  CHECK(rig.Evict(0, {}, request).empty());
  CheckIndex(rig, 40);
  rig.Erase(Range(0, num_keys));
  CHECK(rig.CountIndex().overflows == 0);
  CHECK(rig.num_free() == num_keys + num_keys / 4);
}

TEST_CASE("evictions halve the uses of the entries that are next") {
  const uint32_t num_keys = GENERATE(500, 20000);
  CAPTURE(num_keys);
  WriteRig rig(Evicting(num_keys));
  rig.set_now(kLfu);
  Set(rig, Range(0, num_keys));
  WriteRandomStamps(rig, 0, kLfu, 3);
  std::vector<uint32_t> stamps = rig.ReadStamps(0);
  EvictionRequest request;
  request.num_rows = 50;
  request.sweep = GENERATE(0, 7, 1000000);
  const std::vector<uint32_t> gone = rig.Evict(0, {1, 2, 3}, request);
  REQUIRE(gone.size() == 50);
  for (const uint32_t row : gone) stamps[row] = 0;
  const std::vector<IndexEntry> entries = rig.ReadEntries(0);
  for (uint64_t i = 0; i < 50; i++) {
    const IndexEntry& entry = entries[(request.sweep + i) % entries.size()];
    if ((entry.meta & kStateMask) != kValid) continue;
    stamps[entry.row] = std::max(stamps[entry.row] / 2, 1u);
  }
  CHECK(rig.ReadStamps(0) == stamps);
}

}  // namespace
}  // namespace gatherd::kernels
