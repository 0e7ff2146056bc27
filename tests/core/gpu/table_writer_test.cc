// What the write path does beyond the contract: steps, evictions of large
// writes, quarantines. On the fake of CUDA, with kernels of the host.
#include "core/gpu/table_writer.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "core/kernels/key_place.h"
#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/table_rig.h"

namespace gatherd {
namespace {

using Catch::Matchers::Contains;

// Rows so wide that a step has 512 of them, and a table of ten steps.
constexpr uint32_t kWide = kMaxDim;
constexpr uint32_t kWideStep = 512;

TEST_CASE("a write of many steps is one write") {
  FakeCuda cuda(2);
  for (const KeySpace key_space : {KeySpace::kDense, KeySpace::kHashed}) {
    TableRig rig(cuda, 2, RigSpec(key_space, 5 * kWideStep, kWide));
    REQUIRE(rig.state().layout.step_keys == kWideStep);
    // Each key twice, the second time with its own number.
    std::vector<int64_t> keys = KeyRange(0, 2000);
    std::vector<float> values(keys.size(), -7);
    const auto again = KeyRange(0, 2000);
    keys.insert(keys.end(), again.begin(), again.end());
    const auto numbers = ToFloats(again);
    values.insert(values.end(), numbers.begin(), numbers.end());
    const auto result = rig.Write(keys, values);
    REQUIRE(result.ok());
    CHECK(result->num_updated + result->num_inserted == 2000);
    CHECK(result->revision == 1);
    CHECK(rig.Read(again) == numbers);
    CHECK(rig.table().Erase(keys)->num_erased == 2000);
    CHECK(rig.table().Stats().revision == 2);
    CHECK(rig.Write(KeyRange(1990, 600), std::vector<float>(600, 1),
                    UpdateMode::kSetExisting)
              ->num_skipped ==
          (key_space == KeySpace::kHashed ? 600 : 2590 - 5 * kWideStep));
  }
}

TEST_CASE("a key that is added in several steps is counted once") {
  FakeCuda cuda(1);
  for (const KeySpace key_space : {KeySpace::kDense, KeySpace::kHashed}) {
    TableRig rig(cuda, 1, RigSpec(key_space, 5 * kWideStep, kWide));
    std::vector<int64_t> keys(3 * kWideStep, 5);
    const auto others = KeyRange(0, 100);
    keys.insert(keys.end(), others.begin(), others.end());
    keys.insert(keys.end(), 2 * kWideStep, -1);  // no row of a dense table
    const auto result =
        rig.Write(keys, std::vector<float>(keys.size(), 1), UpdateMode::kAdd);
    REQUIRE(result.ok());
    const bool is_dense = key_space == KeySpace::kDense;
    CHECK(result->num_updated == (is_dense ? 100 : 0));
    CHECK(result->num_inserted == (is_dense ? 0 : 101));
    CHECK(result->num_skipped == (is_dense ? 1 : 0));
    CHECK(rig.Read({5, 6}) == std::vector<float>{3 * kWideStep + 1, 1});
  }
}

TEST_CASE("rows that lookups may be reading are not used again before") {
  FakeCuda cuda(1);
  TableRig rig(cuda, 1, RigSpec(KeySpace::kHashed, 100));
  const auto keys = KeyRange(0, 100);
  REQUIRE(rig.SetToKeys(keys).ok());
  std::optional<EpochGuard> lookup(std::in_place, rig.node().epochs());
  // There are two steps' worth of spare slots.
  REQUIRE(rig.SetToKeys(keys).ok());
  REQUIRE(rig.SetToKeys(keys).ok());
  std::atomic<bool> is_over{false};
  std::thread reader([&] {
    absl::SleepFor(absl::Milliseconds(20));
    is_over = true;
    lookup.reset();
  });
  CHECK(rig.SetToKeys(keys).ok());
  CHECK(is_over);
  reader.join();
  CHECK(rig.Read(keys) == ToFloats(keys));
}

TEST_CASE("a device's part that is full is refused by its number") {
  FakeCuda cuda(2);
  TableRig rig(cuda, 2, RigSpec(KeySpace::kHashed, 1000));
  const uint64_t room = rig.state().layout.rows_per_shard;
  REQUIRE(room < 1000);
  std::vector<int64_t> keys;
  const kernels::TableRef& ref = rig.state().ref(DeviceIndex{0});
  for (int64_t key = 0; keys.size() <= room; ++key) {
    if (kernels::PlaceOf(key, ref).shard == 1) keys.push_back(key);
  }
  const auto refused = rig.SetToKeys(keys).status();
  CHECK(absl::IsResourceExhausted(refused));
  CHECK_THAT(
      std::string(refused.message()),
      Contains("\"words\" is full on device 1") && Contains("to 0 rows"));
  keys.pop_back();
  CHECK(rig.SetToKeys(keys)->num_inserted == room);
  CHECK(rig.state().rows_of_shard[0] == 0);
}

TEST_CASE("steps of a write do not push out each other's keys") {
  FakeCuda cuda(3);
  for (const int num_devices : {1, 3}) {
    for (const Eviction eviction : {Eviction::kLru, Eviction::kLfu}) {
      TableRig rig(cuda, num_devices,
                   RigSpec(KeySpace::kHashed, 5 * kWideStep, kWide, eviction));
      REQUIRE(rig.SetToKeys(KeyRange(0, 5 * kWideStep)).ok());
      rig.Read(KeyRange(0, 5 * kWideStep));
      const auto keys = KeyRange(10'000, 3 * kWideStep);
      const auto result = rig.SetToKeys(keys);
      REQUIRE(result.ok());
      CHECK(result->num_inserted == keys.size());
      CHECK(result->num_evicted == keys.size());
      CHECK(rig.NumPresent(keys) == keys.size());
      CHECK(rig.table().Stats().num_rows == 5 * kWideStep);
    }
  }
}

TEST_CASE("of a write larger than the table the last keys are left") {
  FakeCuda cuda(3);
  for (const int num_devices : {1, 3}) {
    for (const UpdateMode mode : {UpdateMode::kSet, UpdateMode::kAdd}) {
      TableRig rig(cuda, num_devices,
                   RigSpec(KeySpace::kHashed, 100, 1, Eviction::kLfu));
      REQUIRE(rig.SetToKeys(KeyRange(0, 100)).ok());
      std::vector<int64_t> keys = KeyRange(50, 300);
      keys.push_back(50);
      const auto result =
          rig.Write(keys, std::vector<float>(keys.size(), 1), mode);
      REQUIRE(result.ok());
      CHECK(result->num_updated == 50);
      CHECK(result->num_inserted == 250);
      CHECK(result->num_evicted == 250);
      CHECK(rig.NumPresent(KeyRange(251, 99)) == 99);
      CHECK(rig.NumPresent({50}) == 1);
      CHECK(rig.table().Stats().num_rows == 100);
    }
  }
}

TEST_CASE("writes of one context take turns") {
  FakeCuda cuda(1);
  TableRig rig(cuda, 1, RigSpec(KeySpace::kDense, 1000));
  std::vector<std::thread> writers;
  for (int64_t i = 0; i < 4; ++i) {
    writers.emplace_back([&rig, i] {
      const auto keys = KeyRange(i * 100, 100);
      for (int round = 0; round < 50; ++round) {
        if (!rig.SetToKeys(keys).ok()) std::abort();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(rig.Read(KeyRange(0, 400)) == ToFloats(KeyRange(0, 400)));
  CHECK(rig.table().Stats().revision == 200);
}

}  // namespace
}  // namespace gatherd
