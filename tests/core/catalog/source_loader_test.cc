#include "core/catalog/source_loader.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <memory_resource>
#include <numeric>
#include <string>
#include <vector>

#include "tests/core/catalog/map_table.h"
#include "tests/core/npy/npy_bytes.h"

namespace gatherd {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

template <typename T>
std::string WriteRows(const std::string& descr, const std::string& shape,
                      const std::vector<T>& elements) {
  return WriteTestFile("rows.npy", NpyBytes<T>(descr, shape, elements));
}

template <typename T>
std::string WriteKeys(const std::string& descr, const std::vector<T>& keys) {
  const std::string shape = "(" + std::to_string(keys.size()) + ",)";
  return WriteTestFile("keys.npy", NpyBytes<T>(descr, shape, keys));
}

TableSpec DenseSpec(uint32_t dim, uint64_t rows) {
  TableSpec spec = MapTableSpec(dim, rows);
  spec.key_space = KeySpace::kDense;
  return spec;
}

LoadReport Loaded(const SourceSpec& source, Table& table, int num_threads = 1) {
  LoadProgress progress;
  const auto report = LoadSource(source, table, {num_threads}, progress);
  INFO(report.status());
  REQUIRE(report.ok());
  CHECK(progress.rows_loaded == report->num_rows);
  CHECK(progress.rows_total == report->num_rows);
  CHECK(report->seconds >= 0);
  return *report;
}

std::string Refusal(const SourceSpec& source, Table& table) {
  LoadProgress progress;
  const auto report = LoadSource(source, table, {2}, progress);
  REQUIRE_FALSE(report.ok());
  CHECK(absl::IsInvalidArgument(report.status()));
  return std::string(report.status().message());
}

TEST_CASE("Rows and keys of a hashed table are loaded") {
  MapTable table(MapTableSpec(2, 10));
  const int64_t max = std::numeric_limits<int64_t>::max();
  const int64_t min = std::numeric_limits<int64_t>::min();
  const LoadReport report =
      Loaded({WriteRows<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6}),
              WriteKeys<int64_t>("<i8", {max, -1, min})},
             table);
  CHECK(report.num_rows == 3);
  CHECK(report.notes.empty());
  CHECK(table.rows().size() == 3);
  CHECK(table.Row<float>(max) == std::vector<float>{1, 2});
  CHECK(table.Row<float>(-1) == std::vector<float>{3, 4});
  CHECK(table.Row<float>(min) == std::vector<float>{5, 6});
}

TEST_CASE("Keys of a dense table are row numbers") {
  MapTable table(DenseSpec(2, 5));
  Loaded({WriteRows<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6}), ""}, table);
  CHECK(table.rows().size() == 3);
  CHECK(table.Row<float>(0) == std::vector<float>{1, 2});
  CHECK(table.Row<float>(2) == std::vector<float>{5, 6});
}

TEST_CASE("int32 keys are widened with their sign") {
  MapTable table(MapTableSpec(1, 10));
  const LoadReport report =
      Loaded({WriteRows<float>("<f4", "(2, 1)", {1, 2}),
              WriteKeys<int32_t>("<i4", {-5, 2147483647})},
             table);
  REQUIRE(report.notes.size() == 1);
  CHECK_THAT(report.notes[0], Contains("int32 keys widened to int64"));
  CHECK(table.Row<float>(-5) == std::vector<float>{1});
  CHECK(table.Row<float>(2147483647) == std::vector<float>{2});
}

TEST_CASE("float64 is narrowed to nearest, ties to even, with a note") {
  MapTable table(DenseSpec(6, 1));
  const double tie = 1 + 0x1p-24;        // halfway, the even one is below
  const double above = 1 + 3 * 0x1p-24;  // halfway, the even one is above
  const double infinity = std::numeric_limits<double>::infinity();
  const LoadReport report = Loaded(
      {WriteRows<double>("<f8", "(1, 6)",
                         {tie, above, 1e300, -1e300, 0x1p-150, infinity}),
       ""},
      table);
  REQUIRE(report.notes.size() == 1);
  CHECK_THAT(report.notes[0], Contains("float64 narrowed to float32"));
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(table.Row<float>(0) ==
        std::vector<float>{1, 1 + 0x1p-22f, inf, -inf, 0, inf});
}

TEST_CASE("Rows become the table's type") {
  // 1, -2, 0.5 as float16; as bfloat16 below.
  const std::vector<uint16_t> halves = {0x3c00, 0xc000, 0x3800};
  const std::vector<uint16_t> bfloats = {0x3f80, 0xc000, 0x3f00};
  const std::string float32 = NpyBytes<float>("<f4", "(1, 3)", {1, -2, 0.5});
  const std::string float64 = NpyBytes<double>("<f8", "(1, 3)", {1, -2, 0.5});
  const std::string float16 = NpyBytes<uint16_t>("<f2", "(1, 3)", halves);
  for (const std::string& bytes : {float32, float64, float16}) {
    const SourceSpec source = {WriteTestFile("typed.npy", bytes), ""};
    TableSpec spec = DenseSpec(3, 1);
    {
      MapTable table(spec);
      Loaded(source, table);
      CHECK(table.Row<float>(0) == std::vector<float>{1, -2, 0.5});
    }
    spec.data_type = DataType::kFloat16;
    {
      MapTable table(spec);
      Loaded(source, table);
      CHECK(table.Row<uint16_t>(0) == halves);
    }
    spec.data_type = DataType::kBFloat16;
    {
      MapTable table(spec);
      Loaded(source, table);
      CHECK(table.Row<uint16_t>(0) == bfloats);
    }
    spec.data_type = DataType::kInt8;
    {
      MapTable table(spec);
      Loaded(source, table);
      const std::string& row = table.rows().at(0);
      REQUIRE(row.size() == 7);
      CHECK(static_cast<int8_t>(row[0]) == 64);  // 63.5, to even
      CHECK(static_cast<int8_t>(row[1]) == -127);
      CHECK(static_cast<int8_t>(row[2]) == 32);  // 31.75
      float scale;
      std::memcpy(&scale, row.data() + 3, sizeof(scale));
      CHECK(scale == 2.0f / 127.0f);
    }
  }
}

TEST_CASE("A source without rows is legal") {
  MapTable hashed(MapTableSpec(2, 10));
  CHECK(Loaded({WriteRows<float>("<f4", "(0, 2)", {}),
                WriteKeys<int64_t>("<i8", {})},
               hashed, 4)
            .num_rows == 0);
  MapTable dense(DenseSpec(2, 10));
  CHECK(Loaded({WriteRows<float>("<f4", "(0, 2)", {}), ""}, dense).num_rows ==
        0);
}

TEST_CASE("Of duplicate keys the last stands, over many blocks and threads") {
  constexpr int64_t kRows = 150'000;  // ten blocks
  constexpr int64_t kKeys = 20'011;
  std::vector<float> rows(2 * kRows);
  std::vector<int64_t> keys(kRows);
  for (int64_t i = 0; i < kRows; ++i) {
    rows[2 * i] = static_cast<float>(i);
    rows[2 * i + 1] = -static_cast<float>(i);
    keys[i] = i % kKeys;
  }
  const SourceSpec source = {WriteRows<float>("<f4", "(150000, 2)", rows),
                             WriteKeys<int64_t>("<i8", keys)};
  for (const int num_threads : {1, 4, 100}) {
    // Exactly as many rows as there are different keys.
    MapTable table(MapTableSpec(2, kKeys));
    const LoadReport report = Loaded(source, table, num_threads);
    CHECK(report.num_rows == kRows);
    CHECK(table.num_updates() == 10);
    REQUIRE(report.notes.size() == 1);
    CHECK_THAT(report.notes[0],
               Contains(std::to_string(kRows - kKeys) + " rows gave way"));
    bool all_last = true;
    for (int64_t key = 0; key < kKeys; ++key) {
      int64_t last = key;
      while (last + kKeys < kRows) last += kKeys;
      const auto value = static_cast<float>(last);
      all_last = all_last &&
                 table.Row<float>(key) == std::vector<float>{value, -value};
    }
    CHECK(all_last);
  }
}

TEST_CASE("Blocks of the widest rows are small") {
  MapTable table(DenseSpec(kMaxDim, 300));
  std::vector<float> rows(300 * size_t{kMaxDim});
  std::iota(rows.begin(), rows.end(), 0.0f);
  Loaded({WriteRows<float>("<f4", "(300, 8192)", rows), ""}, table, 2);
  CHECK(table.num_updates() == 3);
  CHECK(table.Row<float>(299) ==
        std::vector<float>(rows.end() - kMaxDim, rows.end()));
}

TEST_CASE("Files that do not fit the table are refused, naming both") {
  MapTable hashed(MapTableSpec(2, 2));
  MapTable dense(DenseSpec(2, 2));
  const std::string rows =
      WriteRows<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6});
  const std::string keys = WriteKeys<int64_t>("<i8", {1, 2, 3});

  SECTION("other dim") {
    MapTable wide(MapTableSpec(3, 10));
    const std::string refusal = Refusal({rows, keys}, wide);
    CHECK_THAT(refusal, StartsWith(rows + ": offset "));
    CHECK_THAT(refusal,
               Contains("2 elements") && Contains("\"map\" has dim 3"));
  }
  SECTION("more rows than a dense table") {
    const std::string refusal = Refusal({rows, ""}, dense);
    CHECK_THAT(refusal, StartsWith(rows + ": offset 144: "));
    CHECK_THAT(refusal, Contains("3 rows") && Contains("\"map\" has 2"));
    CHECK(dense.rows().empty());
  }
  SECTION("more keys than a hashed table") {
    const std::string refusal = Refusal({rows, keys}, hashed);
    CHECK_THAT(refusal, StartsWith(rows + ": offset 128: row 0"));
    CHECK_THAT(refusal, Contains("\"map\" is full"));
  }
  SECTION("another number of keys than rows") {
    const std::string two = WriteKeys<int64_t>("<i8", {1, 2});
    const std::string refusal = Refusal({rows, two}, hashed);
    CHECK_THAT(refusal, StartsWith(two + ": offset 144: 2 keys for the 3"));
    const std::string four = WriteKeys<int64_t>("<i8", {1, 2, 3, 4});
    CHECK_THAT(Refusal({rows, four}, hashed),
               StartsWith(four + ": offset 152: 4 keys for the 3"));
  }
  SECTION("no keys for a hashed table, keys for a dense one") {
    CHECK_THAT(Refusal({rows, ""}, hashed), Contains("needs `keys`"));
    CHECK_THAT(Refusal({rows, keys}, dense), Contains("has no `keys`"));
  }
  SECTION("types") {
    CHECK_THAT(Refusal({rows, rows}, hashed), Contains("not 1"));
    CHECK_THAT(Refusal({rows, WriteTestFile(
                                  "float_keys.npy",
                                  NpyBytes<float>("<f4", "(3,)", {1, 2, 3}))},
                       hashed),
               Contains("keys of float32"));
    CHECK_THAT(
        Refusal({WriteTestFile("int_rows.npy",
                               NpyBytes<int32_t>("<i4", "(1, 2)", {1, 2})),
                 ""},
                dense),
        Contains("rows of int32"));
    CHECK_THAT(Refusal({WriteTestFile("flat.npy",
                                      NpyBytes<float>("<f4", "(2,)", {1, 2})),
                        ""},
                       dense),
               Contains("has 1 dimensions, not 2"));
  }
  SECTION("absent files") {
    CHECK_THAT(Refusal({rows + ".absent", keys}, hashed),
               Contains("No such file"));
    CHECK_THAT(Refusal({rows, keys + ".absent"}, hashed),
               Contains("No such file"));
  }
}

TEST_CASE("An error half way ends the load, with the blocks before it in") {
  constexpr int64_t kRows = 150'000;
  std::vector<int64_t> keys(kRows);
  std::iota(keys.begin(), keys.end(), 0);
  const SourceSpec source = {
      WriteRows<float>("<f4", "(150000, 1)", std::vector<float>(kRows)),
      WriteKeys<int64_t>("<i8", keys)};
  MapTable table(MapTableSpec(1, 100'000));  // six blocks and a part
  LoadProgress progress;
  const auto report = LoadSource(source, table, {4}, progress);
  CHECK(absl::IsInvalidArgument(report.status()));
  CHECK_THAT(std::string(report.status().message()), Contains("row 98304"));
  CHECK(progress.rows_loaded == 98'304);
  CHECK(table.rows().size() == 98'304);
}

// Counts what is allocated and not given back.
class CountingMemory final : public std::pmr::memory_resource {
 public:
  std::atomic<size_t> num_taken{0};
  std::atomic<size_t> num_live{0};

 private:
  void* do_allocate(size_t num_bytes, size_t alignment) override {
    ++num_taken;
    ++num_live;
    return std::pmr::new_delete_resource()->allocate(num_bytes, alignment);
  }
  void do_deallocate(void* memory, size_t num_bytes,
                     size_t alignment) override {
    --num_live;
    std::pmr::new_delete_resource()->deallocate(memory, num_bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }
};

TEST_CASE("Blocks are as large, and where, as the caller says") {
  constexpr int64_t kRows = 1000;
  std::vector<int64_t> keys(kRows);
  std::iota(keys.begin(), keys.end(), 0);
  std::vector<double> rows(kRows);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<double>(i);
  // Read and converted, the file's rows being wider than the table's.
  const SourceSpec source = {WriteRows<double>("<f8", "(1000, 1)", rows),
                             WriteKeys<int64_t>("<i8", keys)};
  MapTable table(MapTableSpec(1, 1000));
  CountingMemory memory;
  LoadOptions options;
  options.num_threads = 3;
  options.block_bytes = 7 * 256;  // seven rows
  options.memory = &memory;
  LoadProgress progress;
  REQUIRE(LoadSource(source, table, options, progress).ok());
  REQUIRE(table.rows().size() == 1000);
  for (int64_t key = 0; key < kRows; ++key) {
    REQUIRE(table.Row<float>(key) ==
            std::vector<float>{static_cast<float>(key)});
  }
  // Keys and values of each thread's block, once.
  CHECK(memory.num_taken >= 2);
  CHECK(memory.num_taken <= 6);
  CHECK(memory.num_live == 0);

  memory.num_taken = 0;
  options.memory_bytes = 2 * options.block_bytes - 1;  // for one thread
  REQUIRE(LoadSource(source, table, options, progress).ok());
  CHECK(memory.num_taken == 2);
  memory.num_taken = 0;
  options.memory_bytes = 0;
  REQUIRE(LoadSource(source, table, options, progress).ok());
  CHECK(memory.num_taken == 2);
}

TEST_CASE("A load can be stopped") {
  MapTable table(DenseSpec(2, 5));
  LoadProgress progress;
  progress.cancelled = true;
  const auto report =
      LoadSource({WriteRows<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6}), ""},
                 table, {2}, progress);
  CHECK(absl::IsCancelled(report.status()));
  CHECK(table.rows().empty());
}

}  // namespace
}  // namespace gatherd
