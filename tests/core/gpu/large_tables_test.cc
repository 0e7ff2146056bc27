// Tables and batches past 4 GiB and 2^31 elements, on all GPUs of this machine.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/cuda/device.h"
#include "core/gpu/gpu_table.h"
#include "core/kernels/kernel_api.h"

namespace gatherd {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

struct TestTable {
  std::unique_ptr<GpuNode> node;
  std::unique_ptr<Table> table;
};

TestTable Make(KeySpace key_space, uint32_t dim, uint64_t rows) {
  TableSpec spec;
  spec.name = "large";
  spec.dim = dim;
  spec.key_space = key_space;
  spec.tiers = {{.kind = TierKind::kGpu, .rows = rows}};
  spec.default_value = 0.5f;
  const auto devices = ListDevices(RealCudaApi());
  REQUIRE(devices.ok());
  GpuNodeOptions options;
  for (const DeviceInfo& device : *devices) {
    options.devices.push_back(device.id);
  }
  REQUIRE(PlanTables({&spec, 1}, &options).ok());
  auto node = GpuNode::Create(RealCudaApi(), kernels::RealKernels(), options);
  REQUIRE(node.ok());
  auto table = GpuTable::Create(**node, spec);
  REQUIRE(table.ok());
  return {*std::move(node), *std::move(table)};
}

// Element `i` of a key's row.
float Element(int64_t key, size_t i) {
  return static_cast<float>((key * 31 + static_cast<int64_t>(i) * 7) % 65521);
}

std::vector<float> RowsOf(const std::vector<int64_t>& keys, uint32_t dim) {
  std::vector<float> rows(keys.size() * dim);
  for (size_t k = 0; k < keys.size(); ++k) {
    for (size_t i = 0; i < dim; ++i) rows[k * dim + i] = Element(keys[k], i);
  }
  return rows;
}

std::vector<float> LookUp(Table& table, const std::vector<int64_t>& keys,
                          uint64_t* num_missing) {
  std::vector<float> rows(keys.size() * table.spec().dim, -1.0f);
  std::vector<uint8_t> missing((keys.size() + 7) / 8);
  LookupBatch batch;
  batch.keys = keys;
  const auto result = table.Lookup(
      batch, {reinterpret_cast<std::byte*>(rows.data()), missing.data()});
  REQUIRE(result.ok());
  *num_missing = result->num_missing;
  return rows;
}

UpdateResult Set(Table& table, const std::vector<int64_t>& keys,
                 const std::vector<float>& values) {
  UpdateBatch batch;
  batch.keys = keys;
  batch.values = reinterpret_cast<const std::byte*>(values.data());
  const auto result = Update(table, batch);
  REQUIRE(result.ok());
  return *result;
}

}  // namespace

TEST_CASE("a dense table of more than 2^31 elements", "[large]") {
  constexpr uint32_t kDim = 64;
  constexpr int64_t kRows = 50'000'000;  // 12.8 GB
  const TestTable large = Make(KeySpace::kDense, kDim, kRows);
  // Both ends, stripes, and where offsets pass 2^31 and 2^32 bytes and
  // elements.
  std::vector<int64_t> keys;
  for (const int64_t near :
       {int64_t{2}, int64_t{64}, int64_t{1} << 23, int64_t{1} << 24,
        int64_t{1} << 25, int64_t{1} << 26, kRows - 3}) {
    for (int64_t key = near - 2; key <= near + 2; ++key) {
      if (key < kRows) keys.push_back(key);
    }
  }
  const std::vector<float> rows = RowsOf(keys, kDim);
  CHECK(Set(*large.table, keys, rows).num_updated == keys.size());
  uint64_t num_missing = 0;
  CHECK(LookUp(*large.table, keys, &num_missing) == rows);
  CHECK(num_missing == 0);
  // Their neighbours still have the default row.
  std::vector<int64_t> others;
  for (const int64_t key : keys) {
    for (const int64_t other : {key - 8, key + 8}) {
      if (other >= 0 && other < kRows) others.push_back(other);
    }
  }
  for (const float element : LookUp(*large.table, others, &num_missing)) {
    if (element != 0.5f) FAIL("an element is " << element);
  }
}

TEST_CASE("a hashed table and batches of more than 4 GiB", "[large]") {
  constexpr uint32_t kDim = 512;
  constexpr int64_t kRows = 2'400'000;  // 4.9 GB
  static_assert(kRows * kDim * sizeof(float) > 4 * kGiB);
  const TestTable large = Make(KeySpace::kHashed, kDim, kRows);
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < kRows; ++i) {
    keys.push_back(
        static_cast<int64_t>(static_cast<uint64_t>(i) * 0x9e3779b97f4a7c1));
  }
  {
    const UpdateResult result = Set(*large.table, keys, RowsOf(keys, kDim));
    CHECK(result.num_inserted == keys.size());
  }
  CHECK(large.table->Stats().num_rows == keys.size());
  uint64_t num_missing = 0;
  const std::vector<float> rows = LookUp(*large.table, keys, &num_missing);
  CHECK(num_missing == 0);
  uint64_t num_wrong = 0;
  for (size_t k = 0; k < keys.size(); ++k) {
    for (size_t i = 0; i < kDim; ++i) {
      num_wrong += rows[k * kDim + i] != Element(keys[k], i);
    }
  }
  CHECK(num_wrong == 0);
}

}  // namespace gatherd
