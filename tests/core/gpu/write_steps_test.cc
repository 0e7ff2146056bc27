#include "core/gpu/write_steps.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

namespace gatherd {
namespace {

using Positions = std::vector<uint32_t>;

WriteSteps Cut(const std::vector<int64_t>& keys, uint32_t step_keys,
               bool adds = false, uint64_t max_keys = ~uint64_t{0},
               uint32_t step_positions = 4) {
  WriteStepsOptions options;
  options.step_keys = step_keys;
  options.step_positions = step_positions;
  options.seed = 99;
  options.adds = adds;
  options.max_keys = max_keys;
  return WriteSteps(keys, options);
}

Positions AllOf(const std::vector<WriteStep>& steps) {
  Positions all;
  for (const WriteStep& step : steps) {
    for (uint32_t i = 0; i < step.num_keys; ++i) {
      all.push_back(step.position(i));
    }
  }
  return all;
}

TEST_CASE("a write that fits is one step as it stands") {
  const WriteSteps steps = Cut({7, 7, 8}, 3);
  REQUIRE(steps.steps().size() == 1);
  CHECK(steps.steps()[0].num_keys == 3);
  CHECK(steps.steps()[0].positions.empty());
  CHECK(steps.steps()[0].position(2) == 2);
  CHECK_FALSE(steps.steps()[0].continues_key);
  CHECK(steps.surplus().empty());
}

TEST_CASE("no keys are no step") { CHECK(Cut({}, 3).steps().empty()); }

TEST_CASE("of a key that is set, the last position alone is in a step") {
  const WriteSteps steps = Cut({1, 2, 1, 3, 2, 1}, 2);
  REQUIRE(steps.steps().size() == 2);
  CHECK(steps.steps()[0].num_keys == 2);
  CHECK(steps.steps()[1].num_keys == 1);
  Positions all = AllOf(steps.steps());
  std::sort(all.begin(), all.end());
  CHECK(all == Positions{3, 4, 5});
}

TEST_CASE("positions that are added are grouped by key, in their order") {
  const WriteSteps steps = Cut({1, 2, 1, 3, 2, 1, 1, 4}, 2, /*adds=*/true);
  CHECK(AllOf(steps.steps()) == Positions{0, 2, 5, 6, 1, 4, 3, 7});
  // Four positions at most, then two keys at most.
  REQUIRE(steps.steps().size() == 3);
  CHECK(steps.steps()[0].num_keys == 4);
  CHECK(steps.steps()[1].num_keys == 3);
  CHECK(steps.steps()[2].num_keys == 1);
  for (const WriteStep& step : steps.steps()) CHECK_FALSE(step.continues_key);
}

TEST_CASE("a key that does not fit beside others gets a step of its own") {
  const WriteSteps steps = Cut({1, 2, 2, 2, 2, 3}, 3, /*adds=*/true);
  CHECK(AllOf(steps.steps()) == Positions{0, 1, 2, 3, 4, 5});
  REQUIRE(steps.steps().size() == 3);
  for (const WriteStep& step : steps.steps()) CHECK_FALSE(step.continues_key);
}

TEST_CASE("one key may fill many steps") {
  std::vector<int64_t> keys(10, 5);
  keys.push_back(6);
  const WriteSteps steps = Cut(keys, 3, /*adds=*/true);
  REQUIRE(steps.steps().size() == 3);
  CHECK(steps.steps()[2].num_keys == 3);  // 6 goes with the end of 5
  CHECK_FALSE(steps.steps()[0].continues_key);
  CHECK(steps.steps()[1].continues_key);
  CHECK(steps.steps()[2].continues_key);
  CHECK(Cut(keys, 3).steps().size() == 1);
}

TEST_CASE("of too many keys those that stand last are kept") {
  // 1 ... 5, of which 1 stands again at the end.
  const std::vector<int64_t> keys = {1, 2, 3, 4, 5, 1};
  for (const bool adds : {false, true}) {
    const WriteSteps steps = Cut(keys, 2, adds, /*max_keys=*/3);
    CHECK(AllOf(steps.surplus()) == Positions{1, 2});
    Positions kept = AllOf(steps.steps());
    std::sort(kept.begin(), kept.end());
    CHECK(kept == (adds ? Positions{0, 3, 4, 5} : Positions{3, 4, 5}));
  }
  CHECK(Cut(keys, 2, false, /*max_keys=*/5).surplus().empty());
}

TEST_CASE("steps of a random write hold each key, or position, once") {
  std::mt19937 random(5);
  std::vector<int64_t> keys(5000);
  for (int64_t& key : keys) key = static_cast<int64_t>(random() % 1500);
  std::map<int64_t, uint32_t> last;
  for (uint32_t i = 0; i < keys.size(); ++i) last[keys[i]] = i;

  const WriteSteps set = Cut(keys, 64, false, ~uint64_t{0}, 100);
  std::set<uint32_t> positions;
  for (const WriteStep& step : set.steps()) REQUIRE(step.num_keys <= 64);
  for (const uint32_t position : AllOf(set.steps())) {
    CHECK(last.at(keys[position]) == position);
    CHECK(positions.insert(position).second);
  }
  CHECK(positions.size() == last.size());

  const WriteSteps add = Cut(keys, 64, true, ~uint64_t{0}, 100);
  std::set<int64_t> begun;
  for (const WriteStep& step : add.steps()) {
    REQUIRE(step.num_keys <= 100);
    CHECK_FALSE(step.continues_key);
    std::map<int64_t, uint32_t> before;
    for (uint32_t i = 0; i < step.num_keys; ++i) {
      const uint32_t position = step.position(i);
      const auto [at, is_first] = before.try_emplace(keys[position], position);
      if (is_first) CHECK(begun.insert(keys[position]).second);
      if (!is_first) CHECK(at->second < position);
      at->second = position;
    }
    REQUIRE(before.size() <= 64);
  }
  CHECK(AllOf(add.steps()).size() == keys.size());
}

}  // namespace
}  // namespace gatherd
