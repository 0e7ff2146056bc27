// What the plain kernels do beside the cases of //tests/gpu:write_cases:
// reports, pooling, hooks and launches that fail.
#include "tests/core/gpu/host_kernels.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/synchronization/notification.h"
#include "testing/reference_rows.h"
#include "tests/core/gpu/host_platform.h"
#include "tests/gpu/write_rig.h"

namespace gatherd::kernels {
namespace {

constexpr uint32_t kDim = 3;
constexpr ElementType kFloats = ElementType::kFloat32;
using Words = std::vector<uint32_t>;

RigOptions Hashed(uint32_t num_shards = 1) {
  RigOptions options;
  options.num_rows = 100;
  options.num_buckets = 10;
  options.num_shards = num_shards;
  options.dim = kDim;
  return options;
}

RigOptions Dense(uint32_t num_shards = 1) {
  RigOptions options = Hashed(num_shards);
  options.hashed = false;
  options.num_rows = 128;  // two stripes
  return options;
}

// All elements of the row of a key are the key.
void SetToKeys(WriteRig& rig, const std::vector<int64_t>& keys) {
  std::vector<char> rows;
  for (const int64_t key : keys) {
    const std::vector<char> row =
        MakeRow(kFloats, kDim, static_cast<float>(key));
    rows.insert(rows.end(), row.begin(), row.end());
  }
  rig.Update(keys, rows, kFloats, WriteMode::kSet);
}

// A batch of lookups in the memory of this process.
class Batch {
 public:
  Batch() {
    batch_.segments = segments_;
    batch_.counters = counters_;
    batch_.host_counters = host_counters_;
    batch_.missing_words = missing_.data();
    batch_.host_missing = host_missing_.data();
    batch_.num_missing_words = static_cast<uint32_t>(missing_.size());
    batch_.blocks_left = &blocks_left_;
    batch_.done = &done_;
    batch_.sequence = 9;
  }

  LookupBatch& batch() { return batch_; }

  LookupSegment& Add(const TableRef& table, const std::vector<int64_t>& keys) {
    const int i = batch_.num_segments++;
    keys_[i] = keys;
    outputs_[i].assign(keys.size() * kDim, -1);
    LookupSegment& s = segments_[i];
    s.table = table;
    s.keys = keys_[i].data();
    s.num_keys = static_cast<uint32_t>(keys.size());
    s.output = outputs_[i].data();
    s.missing = missing_.data() + i;
    s.dim = kDim;
    return s;
  }

  cudaError_t Run() {
    const Stream stream;
    return HostKernels().LaunchLookup(batch_, stream.get());
  }

  const std::vector<float>& output(int i) const { return outputs_[i]; }
  uint64_t done() const { return done_; }
  const Words& host_missing() const { return host_missing_; }
  Words Counts(int i) const {
    const LookupCounters& c = host_counters_[i];
    return {c.num_missing, c.num_local, c.num_remote};
  }
  bool IsZeroed() const {
    for (const LookupCounters& c : counters_) {
      if (c.num_missing + c.num_local + c.num_remote != 0) return false;
    }
    return missing_ == Words(2) && blocks_left_ == 0;
  }

 private:
  LookupBatch batch_;
  LookupSegment segments_[2];
  std::vector<int64_t> keys_[2];
  std::vector<float> outputs_[2];
  LookupCounters counters_[2] = {};
  LookupCounters host_counters_[2] = {};
  Words missing_ = Words(2);
  Words host_missing_ = {7, 7};
  uint32_t blocks_left_ = 0;
  volatile uint64_t done_ = 0;
};

TEST_CASE("a report tells what was counted and leaves zeros") {
  WriteRig hashed(Hashed(2));
  WriteRig dense(Dense(2));
  SetToKeys(hashed, {1, 2, 3});
  SetToKeys(dense, {4, 70});
  Batch batch;
  batch.Add(hashed.table(), {9, 1, 2, 8});
  batch.Add(dense.table(), {4, 70, 128, 71, -1});
  batch.batch().this_shard = 1;
  REQUIRE(batch.Run() == cudaSuccess);
  CHECK(batch.done() == 9);
  CHECK(batch.host_missing() == Words{0b1001, 0b10100});
  CHECK(batch.Counts(0)[0] == 2);
  CHECK(batch.Counts(0)[1] + batch.Counts(0)[2] == 2);
  CHECK(batch.Counts(1) == Words{2, 2, 1});
  CHECK(batch.IsZeroed());
  CHECK(batch.output(0) ==
        std::vector<float>{0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 0, 0});
  CHECK(batch.output(1) ==
        std::vector<float>{4, 4, 4, 70, 70, 70, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  // Nothing is missing: the words are left as they were.
  Batch all_there;
  all_there.Add(hashed.table(), {1});
  REQUIRE(all_there.Run() == cudaSuccess);
  CHECK(all_there.host_missing() == Words{7, 7});
}

TEST_CASE("one shard answers for its keys alone") {
  WriteRig dense(Dense(2));
  SetToKeys(dense, {4, 70});
  Batch batch;
  batch.Add(dense.table(), {4, 70, 128});
  batch.batch().only_shard = 0;
  REQUIRE(batch.Run() == cudaSuccess);
  CHECK(batch.output(0) == std::vector<float>{4, 4, 4, -1, -1, -1, 0, 0, 0});
  CHECK(batch.Counts(0) == Words{1, 1, 0});
}

TEST_CASE("bags are pooled as the reference does") {
  WriteRig rig(Hashed());
  const std::vector<int64_t> keys = {1, 5, 7, 1, 99};
  SetToKeys(rig, {1, 5, 7});
  const std::vector<float> weights = {0.3F, -1.7F, 2.5F, 1e-3F, 4};
  const std::vector<uint32_t> offsets = {0, 3, 3};
  const bool weighted = GENERATE(false, true);
  const auto pooling = GENERATE(PoolingMode::kSum, PoolingMode::kMean);
  Batch batch;
  LookupSegment& s = batch.Add(rig.table(), keys);
  s.pooling = pooling;
  s.offsets = offsets.data();
  s.num_bags = 3;
  if (weighted) s.weights = weights.data();
  REQUIRE(batch.Run() == cudaSuccess);
  CHECK(batch.Counts(0)[0] == 1);
  const uint32_t ends[] = {3, 3, 5};
  for (uint32_t b = 0; b < 3; ++b) {
    std::vector<std::vector<char>> stored;
    std::vector<float> bag_weights;
    for (uint32_t i = offsets[b]; i < ends[b]; ++i) {
      stored.push_back(MakeRow(
          kFloats, kDim, keys[i] == 99 ? 0 : static_cast<float>(keys[i])));
      if (weighted) bag_weights.push_back(weights[i]);
    }
    std::vector<const std::byte*> rows;
    for (const auto& row : stored) {
      rows.push_back(reinterpret_cast<const std::byte*>(row.data()));
    }
    const auto reference =
        pooling == PoolingMode::kSum ? ReferenceSum : ReferenceMean;
    const float* pooled = batch.output(0).data() + b * kDim;
    CHECK(std::vector<float>(pooled, pooled + kDim) ==
          reference(rows, bag_weights, DataType::kFloat32, kDim));
  }
}

TEST_CASE("a lookup in flight reads the row that it found") {
  WriteRig rig(Hashed());
  SetToKeys(rig, {1, 2});
  absl::Notification found, written;
  const ScopedLookupHooks hooks({[&](const LookupBatch& batch) {
                                   if (batch.sequence != 9) return;
                                   found.Notify();
                                   written.WaitForNotification();
                                 },
                                 nullptr});
  Batch batch;
  batch.Add(rig.table(), {1, 2});
  std::thread reader([&] { CHECK(batch.Run() == cudaSuccess); });
  found.WaitForNotification();
  // Replaced and erased, but the slots are not used again.
  rig.Update({1}, MakeRow(kFloats, kDim, 5), kFloats, WriteMode::kSet);
  rig.Erase({2});
  written.Notify();
  reader.join();
  CHECK(batch.output(0) == std::vector<float>{1, 1, 1, 2, 2, 2});
}

TEST_CASE("a report can be held back") {
  WriteRig rig(Hashed());
  Batch batch;
  batch.Add(rig.table(), {1});
  uint64_t done = 1;
  std::vector<float> output;
  {
    const ScopedLookupHooks hooks({nullptr, [&](const LookupBatch&) {
                                     done = batch.done();
                                     output = batch.output(0);
                                   }});
    REQUIRE(batch.Run() == cudaSuccess);
  }
  CHECK(done == 0);
  CHECK(output == std::vector<float>(kDim));
  CHECK(batch.done() == 9);
}

TEST_CASE("a launch that fails does nothing") {
  WriteRig rig(Hashed());
  Batch batch;
  batch.Add(rig.table(), {1});
  FakeCuda& cuda = PlatformCuda();
  cuda.FailCall(cuda.num_calls() + 2);  // the stream is made before
  CHECK(batch.Run() != cudaSuccess);
  CHECK(cuda.failed_call()->name == "LaunchLookup");
  CHECK(batch.done() == 0);
  CHECK(batch.output(0) == std::vector<float>(kDim, -1));
  CHECK(cuda.api().cudaGetLastError() != cudaSuccess);
  CHECK(cuda.misuses() == std::vector<std::string>{});
}

}  // namespace
}  // namespace gatherd::kernels
