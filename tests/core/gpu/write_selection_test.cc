// Writes that devices cut into steps. On the fake of CUDA, with kernels of the
// host.
#include "core/gpu/write_selection.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "core/kernels/key_place.h"
#include "core/shard/shard_plan.h"
#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/host_kernels.h"
#include "tests/core/gpu/table_rig.h"

namespace gatherd {
namespace {

using kernels::KernelApi;

// Rows so wide that a step has 512 of them.
constexpr uint32_t kWide = kMaxDim;
constexpr uint32_t kWideStep = 512;

// Kernels that count what devices select and fetch.
std::atomic<int> num_selections{0};
std::atomic<int> num_fetches{0};
std::atomic<uint64_t> num_rows_fetched{0};

KernelApi Counting() {
  KernelApi api = kernels::HostKernels();
  api.SelectAsync = [](const kernels::WriteBatch& batch,
                       const kernels::Selection& selection,
                       cudaStream_t stream) {
    ++num_selections;
    return kernels::HostKernels().SelectAsync(batch, selection, stream);
  };
  api.FetchRowsAsync = [](const kernels::HostRows& rows,
                          const uint32_t* positions, uint32_t count, void* to,
                          cudaStream_t stream) {
    ++num_fetches;
    num_rows_fetched += count;
    return kernels::HostKernels().FetchRowsAsync(rows, positions, count, to,
                                                 stream);
  };
  num_selections = num_fetches = 0;
  num_rows_fetched = 0;
  return api;
}

absl::StatusOr<UpdateResult> WriteFrom(TableRig& rig, bool pinned,
                                       const std::vector<int64_t>& keys,
                                       const std::vector<float>& values,
                                       UpdateMode mode = UpdateMode::kSet) {
  return pinned ? rig.WritePinned(keys, values, mode)
                : rig.Write(keys, values, mode);
}

// Updates of a table and of a map, with many duplicates, out of memory that
// devices read and out of other.
void CompareWithMap(KeySpace key_space, int num_devices, FakeStreams mode) {
  FakeCuda cuda(num_devices, mode);
  const KernelApi kernels = Counting();
  constexpr int64_t kRows = 400;
  TableRig rig(cuda, num_devices, RigSpec(key_space, kRows, 3), kernels);
  std::mt19937 random(7);
  std::map<int64_t, float> model;
  for (int round = 0; round < 8; ++round) {
    const UpdateMode update =
        round % 4 == 3 ? UpdateMode::kSetExisting : UpdateMode::kSet;
    std::vector<int64_t> keys(1500);
    std::vector<float> values(keys.size());
    std::set<int64_t> updated;
    std::set<int64_t> inserted;
    std::set<int64_t> skipped;
    std::map<int64_t, float> next = model;
    for (size_t i = 0; i < keys.size(); ++i) {
      keys[i] = static_cast<int64_t>(random() % (kRows + 20)) - 10;
      values[i] = static_cast<float>(random() % 1000);
      const bool in_range = keys[i] >= 0 && keys[i] < kRows;
      // Both kinds of tables do not have the keys out of range.
      if (key_space == KeySpace::kHashed && !in_range) keys[i] = 0;
      const int64_t key = keys[i];
      if (key_space == KeySpace::kDense) {
        (key >= 0 && key < kRows ? updated : skipped).insert(key);
      } else if (model.count(key) != 0) {
        updated.insert(key);
      } else {
        (update == UpdateMode::kSet ? inserted : skipped).insert(key);
      }
      if (skipped.count(key) == 0) next[key] = values[i];
    }
    const auto result = WriteFrom(rig, round % 2 == 1, keys, values, update);
    REQUIRE(result.ok());
    CHECK(result->num_updated == updated.size());
    CHECK(result->num_inserted == inserted.size());
    CHECK(result->num_skipped == skipped.size());
    model = next;
    std::vector<int64_t> written;
    std::vector<float> expected;
    for (const auto& [key, value] : model) {
      written.push_back(key);
      expected.push_back(value);
    }
    REQUIRE(rig.Read(written) == expected);
  }
  CHECK(num_selections >= 8 * num_devices);
  CHECK(num_fetches >= 4 * num_devices);
  // All of them, twice each, with some that are not there.
  std::vector<int64_t> keys = KeyRange(-10, kRows + 20);
  const auto again = keys;
  keys.insert(keys.end(), again.begin(), again.end());
  const size_t num_there = key_space == KeySpace::kDense ? kRows : model.size();
  CHECK(rig.table().Erase(keys)->num_erased == num_there);
}

TEST_CASE("of equal keys in a write that devices cut the last one is written") {
  const KeySpace key_space = GENERATE(KeySpace::kDense, KeySpace::kHashed);
  const int num_devices = GENERATE(1, 2, 3);
  CompareWithMap(key_space, num_devices, FakeStreams::kAtOnce);
}

TEST_CASE("steps are written while the values of the next are on their way") {
  const KeySpace key_space = GENERATE(KeySpace::kDense, KeySpace::kHashed);
  CompareWithMap(key_space, 2, FakeStreams::kInThreads);
}

TEST_CASE("each device fetches the rows that it owns and no others") {
  FakeCuda cuda(2);
  const KernelApi kernels = Counting();
  constexpr uint64_t kRows = 4 * kWideStep;
  TableRig rig(cuda, 2, RigSpec(KeySpace::kDense, kRows, kWide), kernels);
  // Two steps for each device; every key twice.
  std::vector<int64_t> keys = KeyRange(0, 1024);
  keys.insert(keys.end(), keys.begin(), keys.begin() + 900);
  REQUIRE(rig.WritePinned(keys, ToFloats(keys))->num_updated == 1024);
  CHECK(num_selections == 2);
  CHECK(num_fetches == 2);
  CHECK(num_rows_fetched == 1024);
  CHECK(rig.Read(KeyRange(0, 1024)) == ToFloats(KeyRange(0, 1024)));
}

TEST_CASE("a device may own all keys, and another none") {
  FakeCuda cuda(3);
  const KeySpace key_space = GENERATE(KeySpace::kDense, KeySpace::kHashed);
  const bool pinned = GENERATE(true, false);
  const uint32_t owner = GENERATE(0u, 2u);
  CAPTURE(pinned, owner);
  const KernelApi kernels = Counting();
  constexpr int64_t kRows = 6 * kWideStep;
  TableRig rig(cuda, 3, RigSpec(key_space, kRows, kWide), kernels);
  const kernels::TableRef& ref = rig.state().ref(DeviceIndex{0});
  std::vector<int64_t> keys;
  for (int64_t key = 0; key < kRows; ++key) {
    const uint32_t shard =
        key_space == KeySpace::kHashed
            ? kernels::PlaceOf(key, ref).shard
            : static_cast<uint32_t>(
                  DenseRowPlace(static_cast<uint64_t>(key), 3).device);
    if (shard == owner) keys.push_back(key);
  }
  REQUIRE(keys.size() > kWideStep);
  const auto result = WriteFrom(rig, pinned, keys, ToFloats(keys));
  REQUIRE(result.ok());
  CHECK(result->num_updated + result->num_inserted == keys.size());
  CHECK(num_selections == 3);
  if (pinned) CHECK(num_rows_fetched == keys.size());
  CHECK(rig.Read(keys) == ToFloats(keys));
  CHECK(rig.table().Erase(keys)->num_erased == keys.size());
}

TEST_CASE("a write of one step is cut if its devices save enough by it") {
  FakeCuda cuda(2);
  const KernelApi kernels = Counting();
  TableRig rig(cuda, 2, RigSpec(KeySpace::kHashed, 2 * kWideStep, kWide),
               kernels);
  const auto keys = KeyRange(0, kWideStep);
  REQUIRE(rig.WritePinned(KeyRange(0, 100), ToFloats(KeyRange(0, 100))).ok());
  REQUIRE(rig.SetToKeys(keys).ok());  // copied once, to all
  CHECK(num_selections == 0);
  REQUIRE(rig.WritePinned(keys, std::vector<float>(keys.size(), 3)).ok());
  CHECK(num_selections == 2);
  CHECK(num_rows_fetched == keys.size());
  CHECK(rig.Read(keys) == std::vector<float>(keys.size(), 3));
}

TEST_CASE("more keys than devices select are cut on the host") {
  FakeCuda cuda(2);
  const KernelApi kernels = Counting();
  TableRig rig(cuda, 2, RigSpec(KeySpace::kDense, 1000), kernels);
  std::vector<int64_t> keys(kMaxSelectedKeys + 1, 5);
  keys[17] = 6;
  std::vector<float> values(keys.size(), 1);
  values.back() = 2;
  REQUIRE(rig.Write(keys, values)->num_updated == 2);
  CHECK(num_selections == 0);
  CHECK(rig.Read({5, 6}) == std::vector<float>{2, 1});
  keys.pop_back();
  values.pop_back();
  REQUIRE(rig.Write(keys, values)->num_updated == 2);
  CHECK(num_selections == 2);
  CHECK(rig.Read({5, 6}) == std::vector<float>{1, 1});
}

}  // namespace
}  // namespace gatherd
