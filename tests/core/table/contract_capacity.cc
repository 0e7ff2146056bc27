// The table contract: how many rows fit, and what a refusal leaves behind.
#include <catch2/catch.hpp>

#include "tests/core/table/table_contract.h"

namespace gatherd {
namespace {

using Floats = std::vector<float>;
using Catch::Matchers::Contains;

UpdateBatch BatchOf(const std::vector<int64_t>& keys, const Floats& values,
                    UpdateMode mode = UpdateMode::kSet) {
  UpdateBatch batch;
  batch.keys = keys;
  batch.values = reinterpret_cast<const std::byte*>(values.data());
  batch.mode = mode;
  return batch;
}

TEST_CASE("exactly the configured rows fit", "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    for (const uint64_t rows : {1, 2, 7, 8, 100, 5000}) {
      DYNAMIC_SECTION(kind.name << ' ' << rows) {
        TestTable table(kind, {.rows = rows, .dim = 1});
        CHECK(table.SetToKeys(Range(-3, rows)).num_inserted == rows);
        CHECK(table.num_rows() == rows);

        auto refused = table.TryUpdate({kMaxKey}, {1}, UpdateMode::kSet);
        CHECK(refused.status().code() == absl::StatusCode::kResourceExhausted);
        CHECK_FALSE(table.Has(kMaxKey));

        // Existing keys can be written all the same, over and over.
        for (float i = 1; i < 4; ++i) {
          CHECK(table.SetToKeys(Range(-3, rows), i).num_updated == rows);
        }
        CHECK(table.Floats({-3}) == Floats{0});
        CHECK(table.Erase({-3}).num_erased == 1);
        CHECK(table.Set({kMaxKey}, {1}).num_inserted == 1);
        CHECK_FALSE(table.TryUpdate({-3}, {1}, UpdateMode::kAdd).ok());
      }
    }
  }
}

TEST_CASE("a refusal names the table, the numbers and the setting",
          "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1});
      table.SetToKeys(Range(0, 8));
      auto refused =
          table.TryUpdate({100, 101, 102}, {1, 2, 3}, UpdateMode::kSet);
      const std::string text(refused.status().message());
      CHECK_THAT(text, Contains("words"));
      CHECK_THAT(text, Contains("3"));
      CHECK_THAT(text, Contains("8"));
      CHECK_THAT(text, Contains("10"));
      CHECK_THAT(text, Contains("rows"));
    }
  }
}

TEST_CASE("a refused update changed nothing", "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 4, .dim = 1});
      table.Set({1, 2, 3}, {10, 20, 30});
      auto refused =
          table.TryUpdate({1, 4, 5, 2}, {11, 40, 50, 21}, UpdateMode::kSet);
      CHECK(refused.status().code() == absl::StatusCode::kResourceExhausted);
      const Answer answer = table.Get({1, 2, 3, 4, 5});
      CHECK(answer.floats() == Floats{10, 20, 30, 0, 0});
      CHECK(answer.missing ==
            std::vector<bool>{false, false, false, true, true});
      CHECK(answer.result.revision == 1);
      CHECK(table.num_rows() == 3);
    }
  }
}

TEST_CASE("duplicates and existing keys take no room", "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 3, .dim = 1});
      table.Set({1, 2}, {1, 2});
      CHECK(table.Set({1, 3, 3, 2, 3}, {1, 2, 3, 4, 5}).num_inserted == 1);
      CHECK(table.Floats({1, 2, 3}) == Floats{1, 4, 5});
      CHECK(table.SetExisting({4, 5, 6, 1}, {0, 0, 0, 9}).num_skipped == 3);
      CHECK(table.Floats({1}) == Floats{9});
    }
  }
}

TEST_CASE("batches of one table share its room", "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 4, .dim = 1});
      table.Set({1, 2}, {1, 2});
      const std::vector<int64_t> first_keys = {3, 1};
      const std::vector<int64_t> second_keys = {3, 4};
      const std::vector<int64_t> third_keys = {5};
      const Floats values = {30, 31};
      const auto first = BatchOf(first_keys, values);
      const auto second = BatchOf(second_keys, values, UpdateMode::kAdd);
      const auto third = BatchOf(third_keys, values);
      const auto existing =
          BatchOf(third_keys, values, UpdateMode::kSetExisting);

      const std::vector<UpdateBatch> too_many = {first, second, third};
      auto refused = table.table().PrepareUpdate(too_many);
      CHECK(refused.status().code() == absl::StatusCode::kResourceExhausted);
      CHECK(table.num_rows() == 2);
      CHECK(table.Floats({1}) == Floats{1});

      const std::vector<UpdateBatch> fitting = {first, second, existing};
      auto prepared = table.table().PrepareUpdate(fitting);
      REQUIRE(prepared.ok());
      const auto committed = (*prepared)->Commit();
      REQUIRE(committed.ok());
      const std::vector<UpdateResult>& results = *committed;
      CHECK(results[0].num_inserted == 1);
      CHECK(results[0].num_updated == 1);
      CHECK(results[1].num_inserted == 1);
      CHECK(results[1].num_updated == 1);
      CHECK(results[2].num_skipped == 1);
      prepared->reset();
      CHECK(table.Floats({1, 3, 4}) == Floats{31, 60, 31});
    }
  }
}

TEST_CASE("set_existing finds what an earlier batch has brought",
          "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 4, .dim = 1});
      const std::vector<int64_t> keys = {7};
      const Floats one = {1};
      const Floats two = {2};
      const std::vector<UpdateBatch> batches = {
          BatchOf(keys, one), BatchOf(keys, two, UpdateMode::kSetExisting)};
      auto prepared = table.table().PrepareUpdate(batches);
      REQUIRE(prepared.ok());
      const auto committed = (*prepared)->Commit();
      REQUIRE(committed.ok());
      CHECK((*committed)[1].num_updated == 1);
      prepared->reset();
      CHECK(table.Floats({7}) == two);
    }
  }
}

TEST_CASE("rows come and go without losing room", "[contract]") {
  // Half of the rows are replaced by new keys again and again.
  constexpr int64_t kRows = 1000;
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = kRows, .dim = 1});
      table.SetToKeys(Range(0, kRows));
      for (int64_t round = 0; round < 40; ++round) {
        const int64_t first = round * kRows / 2;
        REQUIRE(table.Erase(Range(first, kRows / 2)).num_erased == kRows / 2);
        const auto result = table.SetToKeys(Range(first + kRows, kRows / 2));
        REQUIRE(result.num_inserted == kRows / 2);
      }
      const Answer answer = table.Get(Range(20 * kRows, kRows));
      CHECK(answer.result.num_missing == 0);
      CHECK(answer.floats().back() == 21 * kRows - 1);
      CHECK(table.num_rows() == kRows);
    }
  }
}

}  // namespace
}  // namespace gatherd
