// Lookups beside updates, erases, evictions and settling: rows that tell
// whether they are whole and whose they are.
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/gpu/write_rig.h"

namespace gatherd::kernels {
namespace {

constexpr uint32_t kDim = 32;
constexpr uint32_t kNumKeys = 4096;
constexpr uint32_t kNumLasting = 2048;  // keys that are never erased

// Keys of one lookup, a multiple of 32. Those of many keys are answered by a
// kernel of their own if they stamp no rows.
uint32_t NumLookups(bool many) {
  if (!Platform().is_gpu) return 1 << 10;
  return many ? 1 << 18 : 1 << 16;
}
int NumRounds() { return Platform().is_gpu ? 300 : 30; }

// All elements of a row are key + 4096 * version, exactly.
std::vector<char> Rows(const std::vector<int64_t>& keys, uint32_t version) {
  std::vector<char> rows;
  for (const int64_t key : keys) {
    const std::vector<char> row =
        MakeRow(ElementType::kFloat32, kDim,
                static_cast<float>(key + kNumKeys * (version % 4000)));
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

class Reader {
 public:
  Reader(const TableRef& table, uint32_t num_keys, uint32_t seed)
      : table_(table), num_keys_(num_keys) {
    for (uint32_t i = 0; i < num_keys_; i++) {
      keys_.push_back((i * 2654435761u + seed) % kNumKeys);
    }
  }

  void Run(const std::atomic<bool>& stop) {
    const Stream stream;
    const DeviceArray<int64_t> keys(keys_);
    DeviceArray<uint32_t> missing(num_keys_ / 32);
    DeviceArray<float> output(uint64_t{num_keys_} * kDim);
    LookupSegment s;
    s.table = table_;
    s.keys = keys.data();
    s.output = output.data();
    s.missing = missing.data();
    s.num_keys = num_keys_;
    s.dim = kDim;
    LookupBatch batch;
    batch.segments = &s;
    batch.num_segments = 1;
    while (!stop) {
      missing.Fill(0);
      num_started++;
      Check(Platform().kernels.LaunchLookup(batch, stream.get()), "lookup");
      stream.Synchronize("lookup");
      num_ended++;
      Judge(output.Read(), missing.Read());
    }
  }

  std::atomic<uint64_t> num_started{0};
  std::atomic<uint64_t> num_ended{0};
  uint64_t num_torn = 0;
  uint64_t num_alien = 0;
  uint64_t num_lost = 0;

 private:
  void Judge(const std::vector<float>& rows,
             const std::vector<uint32_t>& bits) {
    for (uint32_t i = 0; i < num_keys_; i++) {
      const float* row = rows.data() + uint64_t{i} * kDim;
      bool whole = true;
      for (uint32_t d = 1; d < kDim; d++) whole = whole && row[d] == row[0];
      if (!whole) num_torn++;
      const bool missing = ((bits[i / 32] >> (i % 32)) & 1) != 0;
      if (missing) {
        if (keys_[i] < kNumLasting) num_lost++;
        if (row[0] != 0) num_alien++;
      } else if (whole && static_cast<int64_t>(row[0]) % kNumKeys != keys_[i]) {
        num_alien++;
      }
    }
  }

  const TableRef table_;
  const uint32_t num_keys_;
  std::vector<int64_t> keys_;
};

TEST_CASE("no lookup meets a torn row or misses a key that exists") {
  RigOptions options;
  options.num_buckets = 570;  // load 0.9
  options.num_rows = kNumKeys + 2300;
  options.dim = kDim;
  options.has_stamps = true;
  WriteRig rig(options);
  rig.set_now(1);
  std::vector<int64_t> lasting, passing;
  for (uint32_t key = 0; key < kNumKeys; key++) {
    (key < kNumLasting ? lasting : passing).push_back(key);
  }
  rig.Update(lasting, Rows(lasting, 0), ElementType::kFloat32, WriteMode::kSet);

  std::vector<std::unique_ptr<Reader>> readers;
  for (uint32_t i = 0; i < 3; i++) {
    TableRef table = rig.table();
    const bool many = i == 0;
    if (many) table.stamps = nullptr;
    readers.push_back(std::make_unique<Reader>(table, NumLookups(many), i));
  }
  rig.wait_for_lookups = [&] {
    for (const auto& reader : readers) {
      const uint64_t started = reader->num_started;
      while (reader->num_ended < started) std::this_thread::yield();
    }
  };
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (const auto& reader : readers) {
    threads.emplace_back([&stop, &reader] { reader->Run(stop); });
  }
  uint32_t num_failed = 0;
  size_t num_evicted = 0;
  for (int i = 1; i <= NumRounds(); i++) {
    const auto round = static_cast<uint32_t>(i);
    num_failed += rig.Update(passing, Rows(passing, round),
                             ElementType::kFloat32, WriteMode::kSet)
                      .num_failed;
    rig.Update(lasting, Rows(lasting, round), ElementType::kFloat32,
               WriteMode::kSetExisting);
    EvictionRequest request;
    request.num_rows = 200;
    request.seed = round;
    num_evicted += rig.Evict(0, lasting, request).size();
    std::vector<int64_t> some;
    for (const int64_t key : passing) {
      if ((key * 7 + round) % 3 != 0) some.push_back(key);
    }
    rig.Erase(some);
    rig.Settle();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  uint64_t num_lookups = 0;
  for (const auto& reader : readers) {
    num_lookups += reader->num_ended;
    CHECK(reader->num_torn == 0);
    CHECK(reader->num_alien == 0);
    CHECK(reader->num_lost == 0);
  }
  CHECK(num_failed == 0);
  CHECK(num_evicted == 200 * static_cast<size_t>(NumRounds()));
  CHECK(num_lookups > 10);
}

}  // namespace
}  // namespace gatherd::kernels
