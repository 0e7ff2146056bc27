#include "core/shard/gpu_layout.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/shard/shard_plan.h"

namespace gatherd {
namespace {

using Catch::Matchers::Contains;

TableSpec Spec(KeySpace key_space, DataType type, uint32_t dim,
               std::vector<TierSpec> tiers) {
  TableSpec spec;
  spec.name = "words";
  spec.dim = dim;
  spec.data_type = type;
  spec.key_space = key_space;
  spec.tiers = std::move(tiers);
  return spec;
}

GpuTableLayout Plan(const TableSpec& spec, uint32_t num_devices) {
  const auto layout = PlanGpuTable(spec, num_devices);
  INFO(layout.status());
  REQUIRE(layout.ok());
  return *layout;
}

std::string Refusal(const TableSpec& spec, uint32_t num_devices) {
  const auto layout = PlanGpuTable(spec, num_devices);
  CHECK(layout.status().code() == absl::StatusCode::kInvalidArgument);
  return std::string(layout.status().message());
}

TEST_CASE("Tables that the CUDA backend has not got are refused by name") {
  TableSpec spec = Spec(KeySpace::kHashed, DataType::kFloat32, 4,
                        {{.kind = TierKind::kGpu, .rows = 1000}});
  CHECK(CheckGpuTableSpec(spec).ok());
  spec.tiers[0].spread = Spread::kReplicated;
  CHECK(absl::IsUnimplemented(CheckGpuTableSpec(spec)));
  spec.tiers[0].spread = Spread::kSharded;
  spec.tiers.push_back({.kind = TierKind::kHost, .rows = 5000});
  CHECK(std::string(CheckGpuTableSpec(spec).message())
            .find("table \"words\": `tiers` has gpu above host") == 0);
}

TEST_CASE("A dense table takes its padded rows and no more") {
  // 100 int8 and a scale: 104 bytes, padded to 112.
  const TableSpec spec =
      Spec(KeySpace::kDense, DataType::kInt8, 100, {{TierKind::kGpu, 1000}});
  // 15 stripes of 64 and one of 40, of which the first of two GPUs has 8.
  const GpuTableLayout layout = Plan(spec, 2);
  CHECK_FALSE(layout.hashed);
  CHECK(layout.num_shards == 2);
  CHECK(layout.row_stride == 112);
  CHECK(layout.rows_per_shard == 512);
  CHECK(layout.slots_per_shard == 512);
  CHECK(layout.buckets_per_shard == 0);
  CHECK(layout.step_keys == 512);
  CHECK(layout.rows_bytes == 512 * 112);
  CHECK(layout.index_bytes == 0);
  CHECK(layout.free_list_bytes == 0);
  CHECK(layout.stamps_bytes == 0);
  CHECK(layout.bytes_per_device == 57'344);
}

TEST_CASE("A hashed table has an index, spare rows and a list of free ones") {
  // 8 bytes, padded to 16.
  const TableSpec spec =
      Spec(KeySpace::kHashed, DataType::kFloat16, 4, {{TierKind::kGpu, 72}});
  const GpuTableLayout layout = Plan(spec, 1);
  CHECK(layout.hashed);
  CHECK(layout.num_shards == 1);
  CHECK(layout.row_stride == 16);
  CHECK(layout.rows_per_shard == 72);
  CHECK(layout.step_keys == 72);
  CHECK(layout.slots_per_shard == 216);
  // Ten buckets are nine tenths full; two more.
  CHECK(layout.buckets_per_shard == 12);
  CHECK(layout.rows_bytes == 3584);       // 3456, rounded up to 256
  CHECK(layout.index_bytes == 1536);      // 12 * 128
  CHECK(layout.free_list_bytes == 1024);  // 864, rounded up
  CHECK(layout.stamps_bytes == 0);
  CHECK(layout.bytes_per_device == 6144);
}

TEST_CASE("One row more than nine tenths takes one bucket more") {
  const TableSpec spec =
      Spec(KeySpace::kHashed, DataType::kFloat16, 4, {{TierKind::kGpu, 73}});
  CHECK(Plan(spec, 1).buckets_per_shard == 13);
}

TEST_CASE("A table that evicts has stamps") {
  TableSpec spec =
      Spec(KeySpace::kHashed, DataType::kFloat16, 4, {{TierKind::kGpu, 72}});
  spec.eviction = GENERATE(Eviction::kLru, Eviction::kLfu);
  const GpuTableLayout layout = Plan(spec, 1);
  CHECK(layout.stamps_bytes == 1024);
  CHECK(layout.bytes_per_device == 7168);
}

TEST_CASE("The least table") {
  const TableSpec spec =
      Spec(KeySpace::kHashed, DataType::kFloat32, 1, {{TierKind::kGpu, 1}});
  const GpuTableLayout layout = Plan(spec, 8);
  CHECK(layout.rows_per_shard == 1);
  CHECK(layout.step_keys == 1);
  CHECK(layout.slots_per_shard == 3);
  CHECK(layout.buckets_per_shard == 3);
  CHECK(layout.bytes_per_device == 256 + 512 + 256);
}

TEST_CASE("A step of a write has a limit of keys, and one of bytes") {
  const auto step_keys = [](DataType type, uint32_t dim) {
    return Plan(Spec(KeySpace::kHashed, type, dim,
                     {{TierKind::kGpu, 1'000'000}}),
                1)
        .step_keys;
  };
  CHECK(step_keys(DataType::kFloat32, 64) == 65'536);  // 256 bytes each
  CHECK(step_keys(DataType::kFloat32, 65) == 61'680);  // 272 bytes each
  CHECK(step_keys(DataType::kFloat32, 8192) == 512);
  // Values are float32 whatever the table's type: 400 bytes, rows have 112.
  CHECK(step_keys(DataType::kInt8, 100) == 41'943);
}

TEST_CASE("A large table takes some 18 bytes a row beside its rows") {
  const TableSpec spec = Spec(KeySpace::kHashed, DataType::kFloat32, 64,
                              {{TierKind::kGpu, 64'000'000}});
  const GpuTableLayout layout = Plan(spec, 1);
  CHECK(layout.buckets_per_shard == 8'888'891);  // 8,888,888.9 and two
  CHECK(layout.slots_per_shard == 64'131'072);
  CHECK(layout.rows_bytes == uint64_t{16'417'554'432});
  CHECK(layout.index_bytes == 1'137'778'176);  // 128 more than the buckets
  CHECK(layout.free_list_bytes == 256'524'288);
  CHECK(layout.bytes_per_device == uint64_t{17'811'856'896});
}

TEST_CASE("Shards of a hashed table have room for chance") {
  const TableSpec spec = Spec(KeySpace::kHashed, DataType::kFloat32, 4,
                              {{TierKind::kGpu, 1'000'000}});
  const GpuTableLayout layout = Plan(spec, 8);
  CHECK(layout.num_shards == 8);
  CHECK(layout.rows_per_shard == HashedRowsPerDevice(1'000'000, 8));
  CHECK(layout.rows_per_shard > 125'000);
  CHECK(layout.slots_per_shard == layout.rows_per_shard + 2 * 65'536);
}

TEST_CASE("A shard whose index cannot be numbered is refused") {
  TableSpec spec = Spec(KeySpace::kHashed, DataType::kFloat32, 1,
                        {{TierKind::kGpu, kMaxTierRows}});
  CHECK_THAT(Refusal(spec, 1), Contains("\"words\"") &&
                                   Contains("`rows` of tier gpu") &&
                                   Contains("index") && Contains("4294967294"));
  // One more than fill 536,870,909 buckets to nine tenths; with two more, the
  // buckets have 2^32 places.
  spec.tiers[0].rows = 3'865'470'545;
  CHECK_THAT(Refusal(spec, 1), Contains("index"));
  spec.tiers[0].rows = 3'865'470'544;
  CHECK(Plan(spec, 1).buckets_per_shard == 536'870'911);
  spec.tiers[0].rows = kMaxTierRows;
  CHECK(Plan(spec, 2).bytes_per_device > uint64_t{1} << 36);
}

TEST_CASE("A dense table has as many rows as there are numbers") {
  const TableSpec spec = Spec(KeySpace::kDense, DataType::kFloat32, 8192,
                              {{TierKind::kGpu, kMaxTierRows}});
  CHECK(Plan(spec, 1).bytes_per_device == kMaxTierRows * 32'768);
}

TEST_CASE("A replicated cache takes all of its rows on each GPU") {
  const TableSpec spec = Spec(
      KeySpace::kDense, DataType::kFloat32, 4,
      {{TierKind::kGpu, 144, Spread::kReplicated}, {TierKind::kHost, 10'000}});
  const GpuTableLayout layout = Plan(spec, 3);
  // A cache has an index and evicts, though its table is dense.
  CHECK(layout.hashed);
  CHECK(layout.num_shards == 1);
  CHECK(layout.rows_per_shard == 144);
  CHECK(layout.buckets_per_shard == 22);
  CHECK(layout.stamps_bytes == 1792);  // 3 * 144 * 4, rounded up
}

TEST_CASE("A sharded cache of a dense table follows the table's stripes") {
  const TableSpec spec =
      Spec(KeySpace::kDense, DataType::kFloat32, 4,
           {{TierKind::kGpu, 1000}, {TierKind::kHost, 1000}});
  CHECK(Plan(spec, 2).rows_per_shard == 512);
}

TEST_CASE("Without a gpu tier there is nothing to lay out") {
  const TableSpec spec =
      Spec(KeySpace::kDense, DataType::kFloat32, 4, {{TierKind::kHost, 10}});
  CHECK_THAT(Refusal(spec, 1), Contains("\"words\"") && Contains("gpu"));
}

}  // namespace
}  // namespace gatherd
