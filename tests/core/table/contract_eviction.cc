// The table contract: tables that let rows go.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "tests/core/table/table_contract.h"

namespace gatherd {
namespace {

using Floats = std::vector<float>;

constexpr Eviction kEvictions[] = {Eviction::kLru, Eviction::kLfu};

std::vector<int64_t> Present(TestTable& table,
                             const std::vector<int64_t>& keys) {
  const Answer answer = table.Get(keys);
  std::vector<int64_t> present;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!answer.missing[i]) present.push_back(keys[i]);
  }
  return present;
}

TEST_CASE("an evicting table never holds more than its rows", "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    for (const Eviction eviction : kEvictions) {
      for (const uint64_t rows : {1, 5, 100, 3000}) {
        DYNAMIC_SECTION(kind.name << ' ' << EvictionName(eviction) << ' '
                                  << rows) {
          TestTable table(kind, {.rows = rows, .dim = 1, .eviction = eviction});
          uint64_t num_evicted = 0;
          const int64_t step = static_cast<int64_t>(rows / 2 + 1);
          for (int64_t i = 0; i < 10; ++i) {
            const auto keys = Range(i * step, step);
            const UpdateResult result = table.SetToKeys(keys);
            CHECK(result.num_inserted == keys.size());
            num_evicted += result.num_evicted;
            CHECK(table.num_rows() == (i + 1) * step - num_evicted);
            CHECK(table.num_rows() <= rows);
          }
          CHECK(static_cast<double>(table.num_rows()) >=
                kind.min_full * static_cast<double>(rows));
          const TierStats tier = table.table().Stats().tiers.back();
          CHECK(tier.num_evictions == num_evicted);
          const auto present = Present(table, Range(0, 10 * step));
          CHECK(present.size() == table.num_rows());
          for (const int64_t key : present) {
            CHECK(table.Floats({key}) == Floats{static_cast<float>(key)});
          }
        }
      }
    }
  }
}

TEST_CASE("lru gives up what was used longest ago", "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    if (!kind.evicts_coldest) continue;
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 4, .dim = 1, .eviction = Eviction::kLru});
      for (const int64_t key : {1, 2, 3, 4}) table.SetToKeys({key});
      table.Get({1});        // a lookup is a use,
      table.SetToKeys({2});  // an update, too
      CHECK(table.SetToKeys({5}).num_evicted == 1);
      CHECK(Present(table, {3, 4}) == std::vector<int64_t>{4});
      CHECK(table.SetToKeys({6, 7}).num_evicted == 2);
      CHECK(Present(table, {1, 2, 3, 4, 5, 6, 7}) ==
            std::vector<int64_t>{4, 5, 6, 7});
    }
  }
}

TEST_CASE("lfu gives up what was used least", "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    if (!kind.evicts_coldest) continue;
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 4, .dim = 1, .eviction = Eviction::kLfu});
      table.SetToKeys({1, 2, 3, 4});
      for (int i = 0; i < 30; ++i) table.Get({1, 3});
      for (int i = 0; i < 20; ++i) table.SetToKeys({4});
      CHECK(table.SetToKeys({5}).num_evicted == 1);
      CHECK(Present(table, {1, 2, 3, 4, 5}) ==
            std::vector<int64_t>{1, 3, 4, 5});
      table.SetToKeys({6});
      CHECK(Present(table, {1, 3, 4, 5, 6}) ==
            std::vector<int64_t>{1, 3, 4, 6});
    }
  }
}

TEST_CASE("lfu forgets in time", "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 8, .dim = 1, .eviction = Eviction::kLfu});
      table.SetToKeys({1});
      for (int i = 0; i < 100; ++i) table.Get({1});
      // New keys, each used a few times and then never again.
      const auto pass_by = [&](const std::vector<int64_t>& keys) {
        for (const int64_t key : keys) {
          table.SetToKeys({key});
          for (int i = 0; i < 2; ++i) table.Get({key});
        }
      };
      pass_by(Range(100, 20));
      CHECK(table.Has(1));
      pass_by(Range(200, 600));
      CHECK_FALSE(table.Has(1));
    }
  }
}

TEST_CASE("a batch does not push out its own keys", "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    for (const Eviction eviction : kEvictions) {
      for (const int64_t rows : {8, 4000}) {
        DYNAMIC_SECTION(kind.name << ' ' << EvictionName(eviction) << ' '
                                  << rows) {
          TestTable table(kind, {.rows = static_cast<uint64_t>(rows),
                                 .dim = 1,
                                 .eviction = eviction});
          table.SetToKeys(Range(0, rows));
          const uint64_t before = table.num_rows();
          // Those that follow are used, the batch's own are the coldest.
          for (int i = 0; i < 3; ++i) table.Get(Range(rows / 4, rows));
          std::vector<int64_t> keys = Range(0, rows / 4);
          const auto fresh = Range(10 * rows, rows / 2);
          keys.insert(keys.end(), fresh.begin(), fresh.end());
          const UpdateResult result = table.SetToKeys(keys);
          CHECK(result.num_inserted - result.num_evicted ==
                table.num_rows() - before);
          if (kind.min_full == 1) {
            CHECK(Present(table, keys).size() == keys.size());
          }
        }
      }
    }
  }
}

TEST_CASE("a batch of more keys than the table holds leaves the last ones",
          "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    for (const Eviction eviction : kEvictions) {
      for (const int64_t rows : {10, 3000}) {
        DYNAMIC_SECTION(kind.name << ' ' << EvictionName(eviction) << ' '
                                  << rows) {
          TestTable table(kind, {.rows = static_cast<uint64_t>(rows),
                                 .dim = 1,
                                 .eviction = eviction});
          table.SetToKeys(Range(-5, 10));
          // 0 ... 4 are there already; 0 is repeated at the end.
          std::vector<int64_t> keys = Range(0, 2 * rows);
          keys.push_back(0);
          const uint64_t before = table.num_rows();
          const UpdateResult result = table.SetToKeys(keys);
          CHECK(result.num_updated == 5);
          CHECK(result.num_inserted == keys.size() - 6);
          CHECK(before + result.num_inserted - result.num_evicted ==
                table.num_rows());
          CHECK(table.num_rows() <= table.spec().rows());
          if (kind.min_full == 1) {
            CHECK(table.num_rows() == table.spec().rows());
            const auto last = Range(rows + 1, rows - 1);
            CHECK(Present(table, last).size() == last.size());
            CHECK(table.Has(0));
          }
        }
      }
    }
  }
}

TEST_CASE("erased rows make room before anything is evicted", "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    if (kind.min_full < 1) continue;
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1, .eviction = Eviction::kLru});
      table.SetToKeys(Range(0, 10));
      table.Erase({3, 4, 5});
      CHECK(table.SetToKeys({20, 21, 22}).num_evicted == 0);
      CHECK(table.SetToKeys({23}).num_evicted == 1);
      CHECK(table.SetExisting({50, 51}, {1, 1}).num_evicted == 0);
    }
  }
}

TEST_CASE("hot rows stay while cold ones pass by", "[contract]") {
  // A tenth of the table is used before each of many batches of new keys.
  constexpr int64_t kRows = 5000;
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    for (const Eviction eviction : kEvictions) {
      DYNAMIC_SECTION(kind.name << ' ' << EvictionName(eviction)) {
        TestTable table(kind, {.rows = kRows, .dim = 1, .eviction = eviction});
        table.SetToKeys(Range(0, kRows));
        const auto hot = Range(0, kRows / 10);
        for (int64_t round = 1; round <= 50; ++round) {
          table.Get(hot);
          table.SetToKeys(Range(round * kRows, kRows / 10));
        }
        CHECK(Present(table, hot).size() >= hot.size() * 95 / 100);
      }
    }
  }
}

}  // namespace
}  // namespace gatherd
