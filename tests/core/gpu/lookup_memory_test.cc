// Which memory lookup kernels read and write by themselves. On the fake of
// CUDA, whose launches can be looked at.
#include <catch2/catch.hpp>
#include <vector>

#include "core/gpu/lookup_context.h"
#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/host_kernels.h"
#include "tests/core/gpu/table_rig.h"

namespace gatherd {
namespace {

// The first segment of every launch.
class Launched {
 public:
  const std::vector<kernels::LookupSegment>& segments() const {
    return segments_;
  }

 private:
  std::vector<kernels::LookupSegment> segments_;
  kernels::ScopedLookupHooks hooks_{{[this](const kernels::LookupBatch& batch) {
                                       segments_.push_back(batch.segments[0]);
                                     },
                                     [](const kernels::LookupBatch&) {}}};
};

TEST_CASE("rows go straight to reply memory where they can") {
  FakeCuda cuda(1);
  TableRig rig(cuda, 1, RigSpec(KeySpace::kDense, 100));
  REQUIRE(rig.SetToKeys(KeyRange(0, 100)).ok());
  const std::vector<int64_t> keys = {7, 99};
  auto* const rows = reinterpret_cast<float*>(rig.node().reply_memory().data());
  uint8_t missing = 0;
  const Launched launched;
  LookupBatch batch;
  batch.keys = keys;
  REQUIRE(rig.table()
              .Lookup(batch, {reinterpret_cast<std::byte*>(rows), &missing})
              .ok());
  CHECK(rows[0] == 7);
  CHECK(rows[1] == 99);
  REQUIRE(launched.segments().size() == 1);
  CHECK(launched.segments()[0].output == rows);
  CHECK(launched.segments()[0].keys != keys.data());
}

// Bags of the keys 0 to 99, each weighing 2, in the node's reply memory.
LookupBatch PinnedBags(GpuNode& node, size_t num_bags) {
  const size_t num_keys = num_bags * 100;
  auto* const keys = reinterpret_cast<int64_t*>(node.reply_memory().data());
  auto* const weights = reinterpret_cast<float*>(keys + num_keys);
  auto* const offsets = reinterpret_cast<uint32_t*>(weights + num_keys);
  for (size_t i = 0; i < num_keys; ++i) {
    keys[i] = static_cast<int64_t>(i % 100);
    weights[i] = 2;
    offsets[i / 100] = static_cast<uint32_t>(i / 100 * 100);
  }
  LookupBatch batch;
  batch.keys = {keys, num_keys};
  batch.pooling = Pooling::kSum;
  batch.offsets = {offsets, num_bags};
  batch.weights = {weights, num_keys};
  return batch;
}

TEST_CASE("keys and bags in reply memory are read there") {
  FakeCuda cuda(1);
  TableRig rig(cuda, 1, RigSpec(KeySpace::kDense, 100));
  REQUIRE(rig.SetToKeys(KeyRange(0, 100)).ok());
  const LookupBatch batch = PinnedBags(rig.node(), kLookupChunkWork / 50);
  std::vector<float> rows(batch.offsets.size());
  std::vector<uint8_t> missing((batch.keys.size() + 7) / 8);
  const Launched launched;
  REQUIRE(rig.table()
              .Lookup(batch, {reinterpret_cast<std::byte*>(rows.data()),
                              missing.data()})
              .ok());
  CHECK(rows == std::vector<float>(rows.size(), 2 * 4950.0f));
  // Two chunks or more, of which later ones have offsets of their own.
  const auto& segments = launched.segments();
  REQUIRE(segments.size() > 1);
  CHECK(segments[0].offsets == batch.offsets.data());
  size_t first_key = 0;
  for (const kernels::LookupSegment& segment : segments) {
    CHECK(segment.keys == batch.keys.data() + first_key);
    CHECK(segment.weights == batch.weights.data() + first_key);
    first_key += segment.num_keys;
  }
  CHECK(first_key == batch.keys.size());
}

}  // namespace
}  // namespace gatherd
