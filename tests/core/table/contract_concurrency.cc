// The table contract: who waits for whom, and what stays apart.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/core/table/table_contract.h"

namespace gatherd {
namespace {

using Floats = std::vector<float>;

TEST_CASE("lookups and figures do not wait for a writer", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1});
      table.Set({1}, {10});
      const std::vector<int64_t> keys = {1};
      const Floats values = {11};
      UpdateBatch batch;
      batch.keys = keys;
      batch.values = reinterpret_cast<const std::byte*>(values.data());
      auto prepared = table.table().PrepareUpdate({&batch, 1});
      REQUIRE(prepared.ok());
      CHECK(table.Floats({1}) == Floats{10});
      CHECK(table.table().Stats().revision == 1);
      REQUIRE((*prepared)->Commit().ok());
      // Seen as soon as it is acknowledged, the writer still being there.
      CHECK(table.Floats({1}) == Floats{11});
    }
  }
}

TEST_CASE("lookups and figures do not wait for a scan", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1});
      table.Set({1}, {10});
      auto revision =
          table.table().Scan([&](absl::Span<const int64_t>, const std::byte*) {
            CHECK(table.Floats({1}) == Floats{10});
            CHECK(table.table().Stats().revision == 1);
            return absl::OkStatus();
          });
      CHECK(revision.ok());
    }
  }
}

TEST_CASE("writers take turns", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 1});
      constexpr int kNumThreads = 4;
      constexpr int kNumUpdates = 100;
      std::vector<std::thread> threads;
      const std::vector<int64_t> keys = {3, 3, 4};
      const Floats values = {1, 1, 1};
      for (int i = 0; i < kNumThreads; ++i) {
        threads.emplace_back([&] {
          UpdateBatch batch;
          batch.keys = keys;
          batch.values = reinterpret_cast<const std::byte*>(values.data());
          batch.mode = UpdateMode::kAdd;
          for (int j = 0; j < kNumUpdates; ++j) {
            (void)Update(table.table(), batch);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      CHECK(table.Floats({3, 4}) ==
            Floats{2 * kNumThreads * kNumUpdates, kNumThreads * kNumUpdates});
      CHECK(table.table().Stats().revision == kNumThreads * kNumUpdates);
    }
  }
}

TEST_CASE("a writer is not starved by constant reading", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      // Few rows: the writer soon needs what readers may still look at.
      TestTable table(kind, {.rows = 4, .dim = 1});
      std::atomic<bool> stop{false};
      std::vector<std::thread> readers;
      for (int i = 0; i < 3; ++i) {
        readers.emplace_back([&] {
          const std::vector<int64_t> keys(2000, 1);
          std::vector<float> rows(keys.size());
          std::vector<uint8_t> missing(keys.size() / 8);
          LookupBatch batch;
          batch.keys = keys;
          while (!stop) {
            (void)table.table().Lookup(
                batch,
                {reinterpret_cast<std::byte*>(rows.data()), missing.data()});
          }
        });
      }
      std::chrono::duration<double> longest(0);
      for (int i = 0; i < 50; ++i) {
        const auto start = std::chrono::steady_clock::now();
        table.Set({1, 2}, {1, 2});
        longest = std::max<std::chrono::duration<double>>(
            longest, std::chrono::steady_clock::now() - start);
      }
      stop = true;
      for (std::thread& reader : readers) reader.join();
      // A reader holds a writer up for microseconds, or for as long as its
      // thread is kept from running.
      CHECK(longest.count() < 5);
    }
  }
}

TEST_CASE("bags of concurrent lookups stay apart", "[contract]") {
  constexpr size_t kNumBags = 50;
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 1000, .dim = 33});
      table.SetToKeys(Range(0, 1000));
      std::atomic<uint64_t> num_wrong{0};
      std::vector<std::thread> threads;
      for (int64_t thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
          // Bag i is three times the key (thread * 200 + i).
          std::vector<int64_t> keys;
          std::vector<uint32_t> offsets;
          for (size_t i = 0; i < kNumBags; ++i) {
            offsets.push_back(static_cast<uint32_t>(keys.size()));
            keys.insert(keys.end(), 3, thread * 200 + i);
          }
          LookupBatch batch;
          batch.keys = keys;
          batch.offsets = offsets;
          batch.pooling = Pooling::kSum;
          for (int round = 0; round < 100; ++round) {
            std::vector<float> rows(kNumBags * 33);
            std::vector<uint8_t> missing(keys.size());
            auto result = table.table().Lookup(
                batch,
                {reinterpret_cast<std::byte*>(rows.data()), missing.data()});
            if (!result.ok()) ++num_wrong;
            for (size_t i = 0; i < rows.size(); ++i) {
              const size_t key = thread * 200 + i / 33;
              if (rows[i] != static_cast<float>(3 * key)) ++num_wrong;
            }
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      CHECK(num_wrong == 0);
    }
  }
}

}  // namespace
}  // namespace gatherd
