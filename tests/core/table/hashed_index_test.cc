#include "core/table/hashed_index.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace gatherd {
namespace {

class Fixture {
 public:
  Fixture(uint64_t rows, uint64_t seed)
      : index_(rows, seed, *HostMemory::Create(HashedIndex::NumBytes(rows))) {}

  HashedIndex& index() { return index_; }

  uint32_t Put(int64_t key, uint32_t slot) { return index_.Put(key, slot); }

  // The slots of `keys`, found as the writer does and as lookups do.
  std::vector<uint32_t> Find(const std::vector<int64_t>& keys) {
    const std::vector<uint32_t> slots = FindByLookup(keys);
    CHECK(slots == FindInGroups(keys));
    return slots;
  }

 private:
  std::vector<uint32_t> FindByLookup(const std::vector<int64_t>& keys) {
    std::vector<HashedIndex::Search> searches(keys.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      index_.Begin(keys[i], &searches[i]);
    }
    for (HashedIndex::Search& search : searches) index_.FindFirst(&search);
    for (HashedIndex::Search& search : searches) index_.FindRest(&search);
    std::vector<uint32_t> slots;
    for (const HashedIndex::Search& search : searches) {
      CHECK(index_.Exists(search) == (search.slot != RowArena::kDefaultSlot));
      slots.push_back(search.slot);
    }
    return slots;
  }

  std::vector<uint32_t> FindInGroups(const std::vector<int64_t>& keys) {
    std::vector<uint32_t> slots;
    for (size_t i = 0; i < keys.size(); i += KeyGroup::kMaxKeys) {
      KeyGroup group;
      group.keys = absl::MakeConstSpan(keys).subspan(i, KeyGroup::kMaxKeys);
      index_.Prefetch(group);
      index_.Find(group);
      for (size_t j = 0; j < group.keys.size(); ++j) {
        CHECK((group.found >> j & 1) == (group.slots[j] != 0 ? 1 : 0));
        slots.push_back(group.slots[j]);
      }
    }
    return slots;
  }

  HashedIndex index_;
};

TEST_CASE("an index of any size takes all its rows") {
  for (const uint64_t rows : {1, 2, 5, 6, 7, 8, 13, 14, 100, 1000, 20000}) {
    Fixture fixture(rows, rows);
    std::vector<int64_t> keys;
    std::vector<uint32_t> slots;
    for (uint32_t i = 1; i <= rows; ++i) {
      keys.push_back(static_cast<int64_t>(i) << 20);
      slots.push_back(i);
      REQUIRE(fixture.Put(keys.back(), i) == 0);
    }
    CHECK(fixture.Find(keys) == slots);
    std::vector<int64_t> others;
    for (const int64_t key : keys) others.push_back(key + 1);
    CHECK(fixture.Find(others) == std::vector<uint32_t>(rows, 0));
    for (uint32_t i = 0; i < rows; ++i) {
      REQUIRE(fixture.index().Remove(keys[i]) == slots[i]);
      REQUIRE(fixture.index().Remove(keys[i]) == 0);
    }
    CHECK(fixture.Find(keys) == std::vector<uint32_t>(rows, 0));
  }
}

TEST_CASE("keys that went past a full bucket are found after others leave") {
  // One bucket of load more than it holds, in an index of few buckets.
  constexpr uint64_t kRows = 64;
  std::mt19937_64 random(1);
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Fixture fixture(kRows, seed);
    std::map<int64_t, uint32_t> slots;
    std::vector<uint32_t> free;
    for (uint32_t i = 1; i <= kRows; ++i) free.push_back(i);
    for (int step = 0; step < 500; ++step) {
      const int64_t key = static_cast<int64_t>(random() % 100);
      const auto old = slots.find(key);
      if (old != slots.end()) {
        REQUIRE(fixture.index().Remove(key) == old->second);
        free.push_back(old->second);
        slots.erase(old);
      } else if (!free.empty()) {
        REQUIRE(fixture.Put(key, free.back()) == 0);
        slots[key] = free.back();
        free.pop_back();
      }
    }
    for (int64_t key = 0; key < 100; ++key) {
      const auto slot = slots.find(key);
      REQUIRE(fixture.index().SlotOf(key) ==
              (slot == slots.end() ? 0 : slot->second));
    }
  }
}

TEST_CASE("a new slot takes the old one's place") {
  Fixture fixture(10, 0);
  CHECK(fixture.Put(5, 1) == 0);
  CHECK(fixture.Put(5, 2) == 1);
  CHECK(fixture.Find({5}) == std::vector<uint32_t>{2});
  CHECK(fixture.index().Remove(5) == 2);
}

TEST_CASE("a key never meets the slot of another that had its entry") {
  // Of the keys of the only bucket, 2 and 3 have the first entry by turns, and
  // 1 is always there. A slot is the key's by its remainder, and comes once, as
  // it does while a lookup is in the epoch domain.
  constexpr int kNumRounds = 1'000'000;
  Fixture fixture(3, 1);
  REQUIRE(HashedIndex::NumBuckets(3) == 1);
  fixture.Put(3, 3);
  fixture.Put(1, 1);
  std::atomic<bool> ends{false};
  std::atomic<uint64_t> num_wrong{0};
  std::atomic<uint64_t> num_lost{0};
  std::thread reader([&] {
    for (int round = 0; round < kNumRounds; ++round) {
      for (const int64_t key : {1, 2, 3}) {
        HashedIndex::Search search;
        fixture.index().Begin(key, &search);
        fixture.index().FindFirst(&search);
        fixture.index().FindRest(&search);
        if (!fixture.index().Exists(search)) {
          num_lost += key == 1 ? 1 : 0;
        } else if (search.slot % 4 != key) {
          ++num_wrong;
        }
      }
    }
    ends = true;
  });
  for (uint32_t turn = 1; !ends; ++turn) {
    fixture.Put(1, 4 * turn + 1);
    for (const uint32_t key : {2, 3}) {
      fixture.index().Remove(5 - key);
      fixture.Put(key, 4 * turn + key);
    }
  }
  reader.join();
  CHECK(num_wrong == 0);
  CHECK(num_lost == 0);
}

TEST_CASE("a list names every row once") {
  constexpr uint32_t kRows = 1000;
  Fixture fixture(kRows, 3);
  for (uint32_t i = 1; i <= kRows; ++i) fixture.Put(-int64_t{i}, i);
  std::vector<int64_t> keys(16);
  std::vector<uint32_t> slots(16);
  uint64_t cursor = 0;
  std::map<int64_t, uint32_t> seen;
  while (const size_t num = fixture.index().List(&cursor, absl::MakeSpan(keys),
                                                 absl::MakeSpan(slots))) {
    for (size_t i = 0; i < num; ++i) {
      REQUIRE(seen.emplace(keys[i], slots[i]).second);
      REQUIRE(keys[i] == -int64_t{slots[i]});
    }
  }
  CHECK(seen.size() == kRows);
}

}  // namespace
}  // namespace gatherd
