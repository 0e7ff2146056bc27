// The steps of a write against a map on the host.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <unordered_map>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/gpu/write_rig.h"

namespace gatherd::kernels {
namespace {

constexpr ElementType kAllTypes[] = {
    ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16,
    ElementType::kInt8};
constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

RigOptions Hashed(uint64_t num_rows, double load = 0.8) {
  RigOptions options;
  options.num_rows = num_rows * 2 + 64;
  options.num_buckets = static_cast<uint32_t>(static_cast<double>(num_rows) /
                                              load / kEntriesPerBucket) +
                        1;
  return options;
}

std::vector<char> MakeRows(ElementType type, uint32_t dim,
                           const std::vector<float>& bases) {
  std::vector<char> rows;
  for (const float base : bases) {
    const std::vector<char> row = MakeRow(type, dim, base);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

// A table whose rows hold one value in all elements, beside its model.
class Pair {
 public:
  explicit Pair(const RigOptions& options) : options_(options), rig_(options) {}

  WriteRig& rig() { return rig_; }
  const std::unordered_map<int64_t, float>& model() const { return model_; }

  void Update(const std::vector<int64_t>& keys, const std::vector<float>& bases,
              ElementType type, WriteMode mode, bool refuse = false) {
    WriteCounters expected = {};
    std::unordered_map<int64_t, float> next = model_;
    std::unordered_map<int64_t, bool> seen;
    for (size_t i = 0; i < keys.size(); i++) {
      const bool in_range =
          options_.hashed || static_cast<uint64_t>(keys[i]) < options_.num_rows;
      const bool existed =
          in_range && (!options_.hashed || model_.count(keys[i]) != 0);
      const bool skipped =
          !in_range || (!existed && mode == WriteMode::kSetExisting);
      if (seen.emplace(keys[i], true).second) {
        if (skipped) {
          expected.num_skipped++;
        } else if (existed) {
          expected.num_existing++;
        } else {
          expected.num_inserted++;
        }
      }
      if (skipped) continue;
      if (mode == WriteMode::kAdd) {
        next.emplace(keys[i], options_.default_value).first->second += bases[i];
      } else {
        next[keys[i]] = bases[i];
      }
    }
    const WriteCounters counters = rig_.Update(
        keys, MakeRows(type, options_.dim, bases), type, mode, refuse);
    REQUIRE(counters.num_failed == 0);
    REQUIRE(counters.num_existing == expected.num_existing);
    REQUIRE(counters.num_inserted == expected.num_inserted);
    REQUIRE(counters.num_skipped == expected.num_skipped);
    if (!refuse) model_ = std::move(next);
  }

  void Erase(const std::vector<int64_t>& keys) {
    size_t num_erased = 0;
    for (const int64_t key : keys) num_erased += model_.erase(key);
    REQUIRE(rig_.Erase(keys) == num_erased);
  }

  // Looks `keys` up and compares; then the whole index.
  void Compare(const std::vector<int64_t>& keys) {
    std::vector<bool> missing;
    const std::vector<char> rows =
        rig_.Lookup(keys, ElementType::kFloat32, &missing);
    size_t num_wrong = 0;
    for (size_t i = 0; i < keys.size(); i++) {
      const auto found = model_.find(keys[i]);
      const bool out_of_range =
          !options_.hashed &&
          static_cast<uint64_t>(keys[i]) >= options_.num_rows;
      const bool absent = found == model_.end();
      if (missing[i] != (options_.hashed ? absent : out_of_range)) num_wrong++;
      const float expected = absent ? options_.default_value : found->second;
      const float allowed =
          options_.type == ElementType::kInt8 ? std::fabs(expected) * 1e-3f : 0;
      for (const float value :
           ReadRow(ElementType::kFloat32, options_.dim,
                   rows.data() + i * options_.dim * sizeof(float))) {
        if (!(std::fabs(value - expected) <= allowed)) num_wrong++;
      }
    }
    REQUIRE(num_wrong == 0);
    if (!options_.hashed) return;
    const WriteRig::IndexUse use = rig_.CountIndex();
    REQUIRE(use.num_valid == model_.size());
    REQUIRE(use.num_filling == 0);
    REQUIRE(rig_.num_free() ==
            options_.num_rows * options_.num_shards - model_.size());
  }

 private:
  const RigOptions options_;
  WriteRig rig_;
  std::unordered_map<int64_t, float> model_;
};

std::vector<int64_t> SomeKeys(size_t count, uint64_t range, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> keys(count);
  for (int64_t& key : keys) {
    key = static_cast<int64_t>(random() % range * 0x9e3779b97f4a7c15ull);
  }
  return keys;
}

std::vector<float> SomeBases(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> bases(count);
  for (float& base : bases) base = static_cast<float>(random() % 100) - 50;
  return bases;
}

TEST_CASE("the last of equal keys wins, and every key is legal") {
  Pair pair(Hashed(64));
  const std::vector<int64_t> keys = {0, -1, kLowest, kHighest, 0, 7, -1, 0};
  pair.Update(keys, {1, 2, 3, 4, 5, 6, 7, 8}, ElementType::kFloat32,
              WriteMode::kSet);
  REQUIRE(pair.model().at(0) == 8);
  pair.Compare({0, -1, kLowest, kHighest, 7, 1, kLowest + 1});
  pair.Update(keys, {8, 7, 6, 5, 4, 3, 2, 1}, ElementType::kFloat32,
              WriteMode::kAdd);
  pair.Compare({0, -1, kLowest, kHighest, 7, 1});
  pair.Erase({0, kHighest, 0, 99});
  pair.Compare({0, -1, kLowest, kHighest, 7, 1});
}

TEST_CASE("SET_EXISTING inserts nothing") {
  Pair pair(Hashed(64));
  pair.Update({1, 2, 3}, {1, 2, 3}, ElementType::kFloat32, WriteMode::kSet);
  pair.Update({3, 4, 5, 4, 3}, {9, 9, 9, 9, 10}, ElementType::kFloat32,
              WriteMode::kSetExisting);
  pair.Compare({1, 2, 3, 4, 5});
}

TEST_CASE("ADD starts from the default row") {
  RigOptions options = Hashed(64);
  options.default_value = 5;
  Pair pair(options);
  pair.Update({1, 1, 2}, {10, 20, 30}, ElementType::kFloat32, WriteMode::kAdd);
  REQUIRE(pair.model().at(1) == 35);
  pair.Compare({1, 2, 3});
}

TEST_CASE("random writes in all types") {
  const auto table_type =
      GENERATE(from_range(std::begin(kAllTypes), std::end(kAllTypes)));
  const auto value_type =
      GENERATE(from_range(std::begin(kAllTypes), std::end(kAllTypes)));
  const uint32_t dim = GENERATE(1, 3, 17, 64, 300);
  CAPTURE(static_cast<int>(table_type), static_cast<int>(value_type), dim);
  RigOptions options = Hashed(2000);
  options.type = table_type;
  options.dim = dim;
  options.num_shards = 1 + dim % 3;
  Pair pair(options);
  for (uint32_t round = 0; round < 4; round++) {
    const std::vector<int64_t> keys = SomeKeys(1500, 2000, round);
    const bool exact =
        table_type != ElementType::kInt8 && value_type != ElementType::kInt8;
    auto mode = static_cast<WriteMode>(round % 3);
    // Sums of rounded values cannot be told exactly.
    if (!exact && mode == WriteMode::kAdd) mode = WriteMode::kSet;
    std::vector<float> bases = SomeBases(keys.size(), round);
    if (!exact) {
      // Exact in bfloat16, and as 127 steps of an int8 row.
      for (float& base : bases) {
        base = 127 * std::exp2(std::fmod(std::fabs(base), 4.0f));
      }
    }
    pair.Update(keys, bases, value_type, mode);
    pair.Compare(SomeKeys(2000, 2000, round));
    pair.Erase(SomeKeys(300, 2000, round + 100));
    pair.Compare(SomeKeys(2000, 2000, round + 200));
  }
}

TEST_CASE("hot keys add up across windows") {
  RigOptions options = Hashed(4000);
  options.dim = GENERATE(4, 64, 520);
  options.num_shards = options.dim == 64 ? 2 : 1;
  Pair pair(options);
  for (uint32_t round = 0; round < 2; round++) {
    std::vector<int64_t> keys = SomeKeys(30000, 3000, round);
    for (size_t i = 0; i < keys.size(); i++) {
      if (i % 3 == 0) keys[i] = 42;  // 10,000 times
      if (i % 40 == 1) keys[i] = 43;
    }
    pair.Update(keys, SomeBases(keys.size(), round), ElementType::kFloat32,
                WriteMode::kAdd);
    keys.resize(3000);
    pair.Compare(keys);
  }
}

TEST_CASE("an undone write leaves the table as it was") {
  Pair pair(Hashed(5000, 0.95));
  pair.Update(SomeKeys(20000, 4000, 1), SomeBases(20000, 1),
              ElementType::kFloat32, WriteMode::kSet);
  const std::vector<int64_t> keys = SomeKeys(3000, 5000, 2);
  pair.Update(keys, SomeBases(3000, 2), ElementType::kFloat32, WriteMode::kSet,
              true);
  pair.Compare(SomeKeys(6000, 6000, 3));
  pair.Update(keys, SomeBases(3000, 2), ElementType::kFloat32, WriteMode::kSet);
  pair.Compare(SomeKeys(6000, 6000, 3));
}

TEST_CASE("a write that finds no place is undone") {
  RigOptions options = Hashed(800, 1.0);
  WriteRig rig(options);
  // Looking for room in vain takes long without a GPU.
  const std::vector<int64_t> keys =
      SomeKeys(Platform().is_gpu ? 5000 : 1200, 1 << 30, 1);
  const WriteCounters counters = rig.Update(
      keys,
      MakeRows(ElementType::kFloat32, options.dim, SomeBases(keys.size(), 1)),
      ElementType::kFloat32, WriteMode::kSet);
  REQUIRE(counters.num_failed > 0);
  const WriteRig::IndexUse use = rig.CountIndex();
  REQUIRE(use.num_valid == 0);
  REQUIRE(use.num_filling == 0);
  REQUIRE(use.overflows == 0);
}

TEST_CASE("churn at load 0.9 with settling") {
  constexpr uint32_t kNumKeys = 50000;
  Pair pair(Hashed(kNumKeys, 0.9));
  std::vector<int64_t> live;
  for (uint32_t i = 0; i < kNumKeys; i++) live.push_back(i * 7919 - 12345);
  pair.Update(live, SomeBases(kNumKeys, 1), ElementType::kFloat32,
              WriteMode::kSet);
  std::mt19937 random(5);
  int64_t next = int64_t{1} << 40;
  uint64_t num_settled = 0;
  for (int round = 0; round < 40; round++) {
    std::shuffle(live.begin(), live.end(), random);
    constexpr uint32_t kChanged = kNumKeys / 10;
    pair.Erase({live.begin(), live.begin() + kChanged});
    for (uint32_t i = 0; i < kChanged; i++) live[i] = next++;
    num_settled += pair.rig().Settle();
    pair.Update({live.begin(), live.begin() + kChanged},
                SomeBases(kChanged, round), ElementType::kFloat32,
                WriteMode::kSet);
  }
  REQUIRE(num_settled > 0);
  pair.Compare(live);
  const WriteRig::IndexUse use = pair.rig().CountIndex();
  REQUIRE(use.overflows < kNumKeys * 3 / 10);
  pair.Erase(live);
  REQUIRE(pair.rig().CountIndex().overflows == 0);
  pair.Compare(live);
}

TEST_CASE("dense tables are written in range only") {
  RigOptions options;
  options.hashed = false;
  options.num_rows = 1000;
  options.default_value = 3;
  options.type = GENERATE(ElementType::kFloat32, ElementType::kFloat16);
  options.dim = GENERATE(5, 64);
  options.num_shards = GENERATE(1, 3);
  Pair pair(options);
  const WriteMode mode =
      GENERATE(WriteMode::kSet, WriteMode::kAdd, WriteMode::kSetExisting);
  std::vector<int64_t> keys = {0, 999, 1000, -1, kLowest, kHighest, 5, 5, 0};
  pair.Update(keys, {1, 2, 3, 4, 5, 6, 7, 8, 9}, ElementType::kFloat32, mode);
  pair.Compare(keys);
  REQUIRE(pair.rig().Erase({5, 5, 1000, -7}) == 1);
  std::vector<bool> missing;
  const std::vector<char> row =
      pair.rig().Lookup({5}, ElementType::kFloat32, &missing);
  REQUIRE(ReadRow(ElementType::kFloat32, options.dim, row.data())[0] == 3);
}

}  // namespace
}  // namespace gatherd::kernels
