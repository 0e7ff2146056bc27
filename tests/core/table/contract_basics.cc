// The table contract: what one small table answers, worked out by hand.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/core/table/table_contract.h"

namespace gatherd {
namespace {

using Floats = std::vector<float>;

TEST_CASE("a new table holds the default row everywhere", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 3, .default_value = 0.5f});
      const bool dense = kind.key_space == KeySpace::kDense;
      const Answer answer = table.Get({0, 9});
      CHECK(answer.floats() == Floats(6, 0.5f));
      CHECK(answer.missing == std::vector<bool>(2, !dense));
      CHECK(answer.result.revision == 0);
      CHECK(table.table().Stats().num_rows == (dense ? 10 : 0));
      CHECK(table.table().Stats().revision == 0);
    }
  }
}

TEST_CASE("a row that was set comes back", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 2});
      const bool dense = kind.key_space == KeySpace::kDense;
      const UpdateResult first = table.Set({3, 7}, {1, 2, 3, 4});
      CHECK(first.num_inserted == (dense ? 0 : 2));
      CHECK(first.num_updated == (dense ? 2 : 0));
      CHECK(first.num_skipped == 0);
      CHECK(first.num_evicted == 0);
      CHECK(first.revision == 1);

      const UpdateResult second = table.Set({7, 1}, {5, 6, 7, 8});
      CHECK(second.num_inserted == (dense ? 0 : 1));
      CHECK(second.num_updated == (dense ? 2 : 1));
      CHECK(second.revision == 2);

      const Answer answer = table.Get({7, 3, 1, 3});
      CHECK(answer.floats() == Floats{5, 6, 1, 2, 7, 8, 1, 2});
      CHECK(answer.missing == std::vector<bool>(4, false));
      CHECK(answer.result.revision == 2);
      CHECK(table.num_rows() == (dense ? 10 : 3));
    }
  }
}

TEST_CASE("lookups of any number of keys give each its row", "[contract]") {
  constexpr int64_t kRows = 1200;
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = kRows, .dim = 1, .default_value = -1});
      table.SetToKeys(Range(0, kRows));
      for (const size_t num_keys :
           {1,  2,  7,  8,  9,  15,  16,  17,  23,  24,  25,  31,   32,
            33, 48, 63, 64, 65, 127, 511, 512, 513, 520, 536, 1025, 1100}) {
        CAPTURE(num_keys);
        std::vector<int64_t> keys;
        Floats values;
        std::vector<bool> missing;
        for (size_t i = 0; i < num_keys; ++i) {
          missing.push_back(i % 3 == 2);
          keys.push_back(static_cast<int64_t>(i) + (i % 3 == 2 ? kRows : 0));
          values.push_back(i % 3 == 2 ? -1 : static_cast<float>(i));
        }
        const Answer answer = table.Get(keys);
        CHECK(answer.floats() == values);
        CHECK(answer.missing == missing);
        CHECK(answer.result.num_missing == num_keys / 3);
      }
    }
  }
}

TEST_CASE("an erased row is the default row again", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1, .default_value = -1});
      const bool dense = kind.key_space == KeySpace::kDense;
      table.Set({1, 2, 3}, {10, 20, 30});
      // 5 was never written, 10 is no row of a dense table; 2 stands twice.
      const EraseResult erased = table.Erase({2, 5, 2, 3, 10});
      CHECK(erased.num_erased == (dense ? 3 : 2));
      CHECK(erased.revision == 2);
      const Answer answer = table.Get({1, 2, 3});
      CHECK(answer.floats() == Floats{10, -1, -1});
      CHECK(answer.missing == std::vector<bool>{false, !dense, !dense});
      CHECK(table.num_rows() == (dense ? 10 : 1));

      CHECK(table.Set({2}, {21}).num_inserted == (dense ? 0 : 1));
      CHECK(table.Floats({2}) == Floats{21});
    }
  }
}

TEST_CASE("set_existing leaves absent keys alone", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1});
      const bool dense = kind.key_space == KeySpace::kDense;
      table.Set({1}, {10});
      const UpdateResult result = table.SetExisting({1, 2, 2}, {11, 20, 21});
      CHECK(result.num_updated == (dense ? 2 : 1));
      CHECK(result.num_skipped == (dense ? 0 : 1));
      CHECK(result.num_inserted == 0);
      CHECK(table.Floats({1, 2}) == Floats{11, dense ? 21.0f : 0.0f});
      CHECK(table.Has(2) == dense);
    }
  }
}

TEST_CASE("add starts from the default row", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 2, .default_value = 0.5f});
      const bool dense = kind.key_space == KeySpace::kDense;
      table.Set({1}, {1, 2});
      const UpdateResult result = table.Add({1, 2}, {10, 20, 30, 40});
      CHECK(result.num_updated == (dense ? 2 : 1));
      CHECK(result.num_inserted == (dense ? 0 : 1));
      CHECK(table.Floats({1, 2}) == Floats{11, 22, 30.5f, 40.5f});
    }
  }
}

TEST_CASE("of duplicate keys the last one sets, all add", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1});
      const bool dense = kind.key_space == KeySpace::kDense;
      const UpdateResult set = table.Set({4, 5, 4, 4}, {1, 2, 3, 4});
      CHECK(set.num_inserted + set.num_updated == 2);
      CHECK(table.Floats({4, 5}) == Floats{4, 2});
      const UpdateResult add = table.Add({4, 6, 4, 6}, {1, 10, 1, 20});
      CHECK(add.num_updated == (dense ? 2 : 1));
      CHECK(add.num_inserted == (dense ? 0 : 1));
      CHECK(table.Floats({4, 6}) == Floats{6, 30});
    }
  }
}

TEST_CASE("an empty batch is answered and is no write", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1});
      table.Set({1}, {10});
      CHECK(table.Set({}, {}).revision == 1);
      CHECK(table.Erase({}).revision == 1);
      const Answer answer = table.Get({});
      CHECK(answer.rows.empty());
      CHECK(answer.result.num_missing == 0);
      CHECK(answer.result.revision == 1);
      auto prepared = table.table().PrepareUpdate({});
      REQUIRE(prepared.ok());
      const auto committed = (*prepared)->Commit();
      REQUIRE(committed.ok());
      CHECK(committed->empty());
    }
  }
}

TEST_CASE("every batch of a write counts as a revision", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1});
      const std::vector<int64_t> keys = {1, 2};
      const Floats values = {5, 6};
      UpdateBatch batch;
      batch.keys = keys;
      batch.values = reinterpret_cast<const std::byte*>(values.data());
      UpdateBatch add = batch;
      add.mode = UpdateMode::kAdd;
      const std::vector<UpdateBatch> batches = {batch, UpdateBatch{}, add};
      auto prepared = table.table().PrepareUpdate(batches);
      REQUIRE(prepared.ok());
      const auto committed = (*prepared)->Commit();
      REQUIRE(committed.ok());
      const std::vector<UpdateResult>& results = *committed;
      REQUIRE(results.size() == 3);
      CHECK(results[0].revision == 1);
      CHECK(results[1].revision == 1);
      CHECK(results[2].revision == 2);
      CHECK(results[2].num_updated == 2);
      CHECK(table.Get(keys).floats() == Floats{10, 12});
    }
  }
}

TEST_CASE("an update that is not committed changes nothing", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1});
      table.Set({1}, {10});
      const std::vector<int64_t> keys = {1, 2};
      const Floats values = {5, 6};
      UpdateBatch batch;
      batch.keys = keys;
      batch.values = reinterpret_cast<const std::byte*>(values.data());
      { REQUIRE(table.table().PrepareUpdate({&batch, 1}).ok()); }
      CHECK(table.Floats({1, 2}) == Floats{10, 0});
      CHECK(table.table().Stats().revision == 1);
      CHECK(table.Set({2}, {7}).revision == 2);
    }
  }
}

TEST_CASE("a scan visits every row once, at one revision", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 3000, .dim = 3, .default_value = 9});
      const bool dense = kind.key_space == KeySpace::kDense;
      table.SetToKeys(Range(0, 2500));
      table.Erase(Range(100, 50));
      std::vector<int64_t> seen;
      size_t num_wrong = 0;
      auto revision = table.table().Scan(
          [&](absl::Span<const int64_t> keys, const std::byte* rows) {
            const float* row = reinterpret_cast<const float*>(rows);
            for (const int64_t key : keys) {
              const bool written = key < 2500 && (key < 100 || key >= 150);
              const float expected = written ? static_cast<float>(key) : 9;
              num_wrong += std::count(row, row + 3, expected) == 3 ? 0 : 1;
              seen.push_back(key);
              row += 3;
            }
            return absl::OkStatus();
          });
      REQUIRE(revision.ok());
      CHECK(*revision == 2);
      CHECK(num_wrong == 0);
      CHECK(seen.size() == (dense ? 3000 : 2450));
      std::sort(seen.begin(), seen.end());
      CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
    }
  }
}

TEST_CASE("a scan stops at its visitor's first error", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 5000, .dim = 1});
      table.SetToKeys(Range(0, 5000));
      int num_calls = 0;
      auto revision =
          table.table().Scan([&](absl::Span<const int64_t>, const std::byte*) {
            ++num_calls;
            return absl::DataLossError("disk full");
          });
      CHECK(revision.status() == absl::DataLossError("disk full"));
      CHECK(num_calls == 1);
      CHECK(table.Set({1}, {1}).revision == 2);
    }
  }
}

TEST_CASE("counters equal a recount", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 1000, .dim = 1});
      table.SetToKeys(Range(0, 600));
      // Of 37 keys (no multiple of a vector or group) some are missing.
      std::vector<int64_t> keys;
      for (int64_t i = 0; i < 37; ++i) keys.push_back(i * 100 - 500);
      const Answer answer = table.Get(keys);
      uint64_t num_missing = 0;
      const bool dense = kind.key_space == KeySpace::kDense;
      for (size_t i = 0; i < keys.size(); ++i) {
        const int64_t num_keys = dense ? 1000 : 600;
        const bool missing = keys[i] < 0 || keys[i] >= num_keys;
        CHECK(answer.missing[i] == missing);
        num_missing += missing ? 1 : 0;
      }
      CHECK(answer.result.num_missing == num_missing);
    }
  }
}

}  // namespace
}  // namespace gatherd
