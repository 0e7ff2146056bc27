// The table contract: pooled lookups and conversions, worked out by hand.
#include <catch2/catch.hpp>
#include <cstring>

#include "testing/reference_rows.h"
#include "tests/core/table/table_contract.h"

namespace gatherd {
namespace {

using Floats = std::vector<float>;

// Rows 1 ... 4 are (key, 10 key); the default row is (0.5, 0.5).
class PoolingTable : public TestTable {
 public:
  explicit PoolingTable(const TableKind& kind)
      : TestTable(kind, {.rows = 100, .dim = 2, .default_value = 0.5f}) {
    Set({1, 2, 3, 4}, {1, 10, 2, 20, 3, 30, 4, 40});
  }
};

Floats Pool(TestTable& table, Pooling pooling, const std::vector<int64_t>& keys,
            const std::vector<uint32_t>& offsets, const Floats& weights = {}) {
  LookupBatch batch;
  batch.keys = keys;
  batch.pooling = pooling;
  batch.offsets = offsets;
  batch.weights = weights;
  return table.Lookup(batch).floats();
}

TEST_CASE("bags are summed and averaged", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      PoolingTable table(kind);
      const std::vector<int64_t> keys = {1, 2, 3, 4, 1};
      CHECK(Pool(table, Pooling::kSum, keys, {0, 2, 3}) ==
            Floats{3, 30, 3, 30, 5, 50});
      CHECK(Pool(table, Pooling::kMean, keys, {0, 2, 3}) ==
            Floats{1.5f, 15, 3, 30, 2.5f, 25});
      CHECK(Pool(table, Pooling::kSum, keys, {0}) == Floats{11, 110});
    }
  }
}

TEST_CASE("weights multiply rows and divide the mean", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      PoolingTable table(kind);
      const std::vector<int64_t> keys = {1, 2, 3, 4};
      const Floats weights = {2, 1, 0.5f, -0.5f};
      CHECK(Pool(table, Pooling::kSum, keys, {0, 2}, weights) ==
            Floats{4, 40, -0.5f, -5});
      // The second bag's weights sum to 0.
      CHECK(Pool(table, Pooling::kMean, keys, {0, 2}, weights) ==
            Floats{4.0f / 3, 40.0f / 3, 0, 0});
    }
  }
}

TEST_CASE("an empty bag is zeros, wherever it stands", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      PoolingTable table(kind);
      for (const Pooling pooling : {Pooling::kSum, Pooling::kMean}) {
        CHECK(Pool(table, pooling, {4}, {0, 0, 1, 1}) ==
              Floats{0, 0, 4, 40, 0, 0, 0, 0});
        CHECK(Pool(table, pooling, {}, {0, 0}) == Floats{0, 0, 0, 0});
        CHECK(Pool(table, pooling, {}, {}).empty());
      }
    }
  }
}

TEST_CASE("a missing key adds the default row to its bag", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      PoolingTable table(kind);
      CHECK(Pool(table, Pooling::kSum, {1, -1, kMaxKey}, {0}) == Floats{2, 11});
      CHECK(Pool(table, Pooling::kMean, {1, -1}, {0}) == Floats{0.75f, 5.25f});
      LookupBatch batch;
      const std::vector<int64_t> keys = {1, -1, 2};
      const std::vector<uint32_t> offsets = {0, 1};
      batch.keys = keys;
      batch.offsets = offsets;
      batch.pooling = Pooling::kSum;
      const Answer answer = table.Lookup(batch);
      CHECK(answer.missing == std::vector<bool>{false, true, false});
    }
  }
}

TEST_CASE("bags are accumulated in float32 and converted once", "[contract]") {
  // In float16, 2048 + 1 is 2048: adding there would stay at 2048.
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind,
                      {.rows = 10, .dim = 1, .data_type = DataType::kFloat16});
      table.Set({0, 1}, {2048, 1});
      LookupBatch batch;
      const std::vector<int64_t> keys = {0, 1, 1, 1, 1};
      const std::vector<uint32_t> offsets = {0};
      batch.keys = keys;
      batch.offsets = offsets;
      batch.pooling = Pooling::kSum;
      batch.output_type = DataType::kFloat16;
      const Answer answer = table.Lookup(batch);
      uint16_t half;
      std::memcpy(&half, answer.rows.data(), sizeof(half));
      CHECK(ReferenceHalfToFloat(half) == 2052);
    }
  }
}

TEST_CASE("rows of one type keep every bit", "[contract]") {
  // NaNs with a payload, infinities, negative zero, a denormal.
  const std::vector<uint32_t> bits = {0x7fc0'1234, 0xffa0'0001, 0x7f80'0000,
                                      0xff80'0000, 0x8000'0000, 0x0000'0001};
  for (const TableKind& kind : TableKinds()) {
    DYNAMIC_SECTION(kind.name) {
      TestTable table(kind, {.rows = 10, .dim = 6});
      const std::vector<int64_t> keys = {5};
      UpdateBatch batch;
      batch.keys = keys;
      batch.values = reinterpret_cast<const std::byte*>(bits.data());
      REQUIRE(Update(table.table(), batch).ok());
      const Answer answer = table.Get(keys);
      CHECK(std::memcmp(answer.rows.data(), bits.data(), 24) == 0);
    }
  }
}

TEST_CASE("the default row has the table's type", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    for (const DataType type : {DataType::kFloat32, DataType::kFloat16,
                                DataType::kBFloat16, DataType::kInt8}) {
      DYNAMIC_SECTION(kind.name << ' ' << std::string(DataTypeName(type))) {
        TestTable table(
            kind,
            {.rows = 10, .dim = 5, .data_type = type, .default_value = 0.1f});
        const auto row = ReferenceFromFloats(Floats(5, 0.1f), type);
        CHECK(table.Get({-1}).rows == row);
        CHECK(table.Floats({-1}) == ReferenceToFloats(row.data(), type, 5));
      }
    }
  }
}

}  // namespace
}  // namespace gatherd
