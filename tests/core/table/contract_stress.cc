// The table contract under load: readers and writers at once, over rows that
// show by themselves whether they are whole, right and new enough.
//
// Every row is derived from its key and a version. Each key belongs to one
// writer, who raises its version with every operation: those that are a
// multiple of 8 erase it, the others set it. A reader notes the last
// acknowledged version before its lookup and the last begun one after it, and
// accepts what lies between, nothing else.
//
// GATHERD_STRESS_SECONDS: how long each table is driven, 0.4 by default.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "core/base/hash.h"
#include "tests/core/table/table_contract.h"

namespace gatherd {
namespace {

constexpr size_t kDim = 17;  // an odd number of elements
constexpr size_t kNumWriters = 2;
constexpr size_t kNumReaders = 4;

using Words = std::array<uint32_t, kDim>;

// Raw bits in float32 elements: the same type in and out keeps them.
Words RowOf(int64_t key, uint32_t version) {
  Words row;
  row[0] = version;
  for (size_t i = 1; i < kDim; ++i) {
    row[i] = static_cast<uint32_t>(MixKey(key, uint64_t{version} * kDim + i));
  }
  return row;
}

// Versions that an update names but that a later duplicate in the same batch
// overrides: nobody may ever see one.
constexpr uint32_t kHidden = 0x8000'0000;

bool IsErased(uint32_t version) { return version % 8 == 0; }

std::chrono::duration<double> Length() {
  const char* seconds = std::getenv("GATHERD_STRESS_SECONDS");
  return std::chrono::duration<double>(
      seconds == nullptr ? 0.4 : std::strtod(seconds, nullptr));
}

class Stress {
 public:
  Stress(const TableKind& kind, const TableOptions& options, size_t num_keys)
      : table_(kind, options),
        evicts_(options.eviction != Eviction::kNone),
        begun_(num_keys),
        acknowledged_(num_keys) {}

  void Run() {
    const auto end = std::chrono::steady_clock::now() + Length();
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kNumWriters; ++i) {
      threads.emplace_back([this, i, end] {
        std::mt19937 random(static_cast<uint32_t>(i));
        do {
          Write(i, random);
        } while (num_writes_ == 0 || std::chrono::steady_clock::now() < end);
      });
    }
    for (size_t i = 0; i < kNumReaders; ++i) {
      threads.emplace_back([this, i, end] {
        std::mt19937 random(static_cast<uint32_t>(100 + i));
        do {
          Read(random);
        } while (std::chrono::steady_clock::now() < end);
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(num_torn_ == 0);
    CHECK(num_stale_ == 0);
    CHECK(num_lost_ == 0);
    CHECK(num_old_revisions_ == 0);
    CHECK(num_failed_ == 0);
    CHECK(num_reads_ > 0);
    CHECK(num_writes_ > 0);
  }

 private:
  // Distinct keys of `writer`, each at the version that comes next.
  std::vector<int64_t> NextKeys(size_t writer, bool erased,
                                std::mt19937& random) {
    const size_t num_own = begun_.size() / kNumWriters;
    std::vector<int64_t> keys;
    const size_t count = 1 + random() % 300;
    const size_t first = random() % num_own;
    const size_t step = 1 + random() % 3;
    for (size_t i = 0; i < count && i * step < num_own; ++i) {
      const size_t key = (first + i * step) % num_own * kNumWriters + writer;
      if (IsErased(begun_[key] + 1) != erased) continue;
      keys.push_back(static_cast<int64_t>(key));
    }
    for (const int64_t key : keys) begun_[key].fetch_add(1);
    return keys;
  }

  void Acknowledge(const std::vector<int64_t>& keys, uint64_t revision) {
    for (const int64_t key : keys) {
      acknowledged_[key].store(begun_[key].load(std::memory_order_relaxed),
                               std::memory_order_release);
    }
    uint64_t known = revision_.load();
    while (known < revision &&
           !revision_.compare_exchange_weak(known, revision)) {
    }
    ++num_writes_;
  }

  void Write(size_t writer, std::mt19937& random) {
    const bool erases = random() % 4 == 0;
    const std::vector<int64_t> keys = NextKeys(writer, erases, random);
    if (keys.empty()) return;
    if (erases) {
      auto result = table_.table().Erase(keys);
      if (!result.ok()) ++num_failed_;
      Acknowledge(keys, result.ok() ? result->revision : 0);
      return;
    }
    std::vector<int64_t> batch_keys = keys;
    std::vector<Words> rows;
    for (const int64_t key : keys) {
      rows.push_back(RowOf(key, begun_[key] | kHidden));
    }
    batch_keys.insert(batch_keys.end(), keys.begin(), keys.end());
    for (const int64_t key : keys) rows.push_back(RowOf(key, begun_[key]));
    UpdateBatch batch;
    batch.keys = batch_keys;
    batch.values = reinterpret_cast<const std::byte*>(rows.data());
    auto result = Update(table_.table(), batch);
    if (!result.ok()) ++num_failed_;
    Acknowledge(keys, result.ok() ? result->revision : 0);
  }

  void Read(std::mt19937& random) {
    std::vector<int64_t> keys(1 + random() % 900);
    for (int64_t& key : keys) key = random() % begun_.size();
    std::vector<uint32_t> oldest;
    for (const int64_t key : keys) {
      oldest.push_back(acknowledged_[key].load(std::memory_order_acquire));
    }
    const uint64_t oldest_revision = revision_.load();
    std::vector<Words> rows(keys.size());
    std::vector<uint8_t> missing((keys.size() + 7) / 8);
    LookupBatch batch;
    batch.keys = keys;
    auto result = table_.table().Lookup(
        batch, {reinterpret_cast<std::byte*>(rows.data()), missing.data()});
    if (!result.ok()) {
      ++num_failed_;
      return;
    }
    if (result->revision < oldest_revision) ++num_old_revisions_;
    for (size_t i = 0; i < keys.size(); ++i) {
      const bool is_default = rows[i] == Words{};
      const bool is_missing = (missing[i / 8] >> i % 8 & 1) != 0;
      if (is_missing && !is_default) ++num_torn_;
      const uint32_t newest = begun_[keys[i]].load();
      if (is_default) {
        CheckDefault(oldest[i], newest);
      } else {
        CheckRow(keys[i], rows[i], oldest[i], newest);
      }
    }
    ++num_reads_;
  }

  // Whether some version between the two erased the row.
  void CheckDefault(uint32_t oldest, uint32_t newest) {
    const uint32_t next_erased = (oldest + 7) / 8 * 8;
    if (next_erased > newest && !evicts_) ++num_lost_;
  }

  void CheckRow(int64_t key, const Words& row, uint32_t oldest,
                uint32_t newest) {
    const uint32_t version = row[0];
    if (row != RowOf(key, version) || IsErased(version)) {
      ++num_torn_;
    } else if (version < oldest || version > newest) {
      ++num_stale_;
    }
  }

  TestTable table_;
  const bool evicts_;
  std::vector<std::atomic<uint32_t>> begun_;
  std::vector<std::atomic<uint32_t>> acknowledged_;
  std::atomic<uint64_t> revision_{0};
  std::atomic<uint64_t> num_torn_{0};
  std::atomic<uint64_t> num_stale_{0};
  std::atomic<uint64_t> num_lost_{0};
  std::atomic<uint64_t> num_old_revisions_{0};
  std::atomic<uint64_t> num_failed_{0};
  std::atomic<uint64_t> num_reads_{0};
  std::atomic<uint64_t> num_writes_{0};
};

TEST_CASE("rows are whole and new under load", "[contract][stress]") {
  for (const TableKind& kind : TableKinds()) {
    // Few rows: everything meets; many: spare slots and probing do.
    for (const size_t num_keys : {40, 4000}) {
      DYNAMIC_SECTION(kind.name << ' ' << num_keys) {
        Stress(kind, {.rows = num_keys, .dim = kDim}, num_keys).Run();
      }
    }
  }
}

TEST_CASE("rows are whole and new while others are evicted",
          "[contract][stress]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    for (const Eviction eviction : {Eviction::kLru, Eviction::kLfu}) {
      DYNAMIC_SECTION(kind.name << ' ' << EvictionName(eviction)) {
        constexpr size_t kNumKeys = 3000;
        Stress(kind, {.rows = kNumKeys / 2, .dim = kDim, .eviction = eviction},
               kNumKeys)
            .Run();
      }
    }
  }
}

}  // namespace
}  // namespace gatherd
