// The table contract: which keys there are.
#include <catch2/catch.hpp>
#include <random>

#include "tests/core/table/table_contract.h"

namespace gatherd {
namespace {

using Floats = std::vector<float>;

TEST_CASE("every 64-bit key is legal in a hashed table", "[contract]") {
  const std::vector<int64_t> keys = {0,
                                     -1,
                                     1,
                                     kMinKey,
                                     kMinKey + 1,
                                     kMaxKey,
                                     kMaxKey - 1,
                                     int64_t{1} << 32,
                                     -(int64_t{1} << 32),
                                     0x0101'0101'0101'0101};
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = keys.size(), .dim = 1});
      CHECK(table.Get(keys).result.num_missing == keys.size());
      Floats values;
      for (size_t i = 0; i < keys.size(); ++i) {
        values.push_back(static_cast<float>(i));
      }
      CHECK(table.Set(keys, values).num_inserted == keys.size());
      const Answer answer = table.Get(keys);
      CHECK(answer.floats() == values);
      CHECK(answer.result.num_missing == 0);
      CHECK(table.Erase({kMinKey, 0, -1}).num_erased == 3);
      CHECK(table.Has(kMaxKey));
      CHECK_FALSE(table.Has(kMinKey));
      CHECK_FALSE(table.Has(0));
    }
  }
}

TEST_CASE("keys that differ in their upper half alone stay apart",
          "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 1000, .dim = 1});
      std::vector<int64_t> keys;
      Floats values;
      for (int64_t i = 0; i < 1000; ++i) {
        keys.push_back(i << 32 | 42);
        values.push_back(static_cast<float>(i));
      }
      table.Set(keys, values);
      CHECK(table.Floats(keys) == values);
      CHECK_FALSE(table.Has(43));
    }
  }
}

TEST_CASE("strided keys behave like random ones", "[contract]") {
  // As many as the table holds, so that a bad spread would not fit.
  constexpr size_t kRows = 200'000;
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = kRows, .dim = 1});
      std::vector<int64_t> keys;
      Floats values;
      for (size_t i = 0; i < kRows; ++i) {
        keys.push_back(static_cast<int64_t>(i) * 4096);
        values.push_back(static_cast<float>(i));
      }
      CHECK(table.Set(keys, values).num_inserted == kRows);
      CHECK(table.num_rows() == kRows);
      CHECK(table.Floats(keys) == values);
      for (int64_t& key : keys) key += 1;
      CHECK(table.Get(keys).result.num_missing == kRows);
    }
  }
}

TEST_CASE("the bounds of a dense table are exact in reads", "[contract]") {
  const std::vector<int64_t> outside = {-1,      100,     101,
                                        kMinKey, kMaxKey, int64_t{1} << 32};
  for (const TableKind& kind : TableKinds(KeySpace::kDense)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 100, .dim = 2, .default_value = 0.25f});
      table.Set({0, 99}, {1, 2, 3, 4});
      CHECK(table.Floats({0, 99}) == Floats{1, 2, 3, 4});
      CHECK(table.Get({0, 98, 99}).result.num_missing == 0);
      const Answer answer = table.Get(outside);
      CHECK(answer.result.num_missing == outside.size());
      CHECK(answer.floats() == Floats(2 * outside.size(), 0.25f));
    }
  }
}

TEST_CASE("the bounds of a dense table are exact in writes", "[contract]") {
  const std::vector<int64_t> outside = {-1, 100, kMinKey, kMaxKey,
                                        (int64_t{1} << 32) + 5};
  for (const TableKind& kind : TableKinds(KeySpace::kDense)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 100, .dim = 1});
      for (const UpdateMode mode :
           {UpdateMode::kSet, UpdateMode::kAdd, UpdateMode::kSetExisting}) {
        auto result = table.TryUpdate(outside, Floats(5, 7), mode);
        REQUIRE(result.ok());
        CHECK(result->num_skipped == outside.size());
        CHECK(result->num_updated == 0);
        CHECK(result->num_inserted == 0);
      }
      CHECK(table.Erase(outside).num_erased == 0);
      CHECK(table.Floats(Range(0, 100)) == Floats(100, 0));
      CHECK(table.num_rows() == 100);
    }
  }
}

TEST_CASE("every row of a dense table can be written and erased",
          "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kDense)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 1000, .dim = 1, .default_value = 7});
      for (const float offset : {0.0f, 0.5f, 1.0f}) {
        const UpdateResult result = table.SetToKeys(Range(0, 1000), offset);
        CHECK(result.num_updated == 1000);
        const Floats rows = table.Floats(Range(0, 1000));
        CHECK(rows.front() == offset);
        CHECK(rows.back() == 999 + offset);
      }
      CHECK(table.Erase(Range(0, 1000)).num_erased == 1000);
      CHECK(table.Floats(Range(0, 1000)) == Floats(1000, 7));
      CHECK(table.Erase(Range(0, 1000)).num_erased == 1000);
    }
  }
}

}  // namespace
}  // namespace gatherd
