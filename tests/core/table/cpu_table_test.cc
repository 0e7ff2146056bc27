// What is peculiar to the tables of the CPU backend: memory and tiers.
#include "core/table/cpu_table.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "testing/sanitizers.h"
#include "testing/skip.h"

namespace gatherd {
namespace {

using Catch::Matchers::Contains;

TableSpec Spec(KeySpace key_space, uint64_t rows, uint32_t dim,
               DataType type = DataType::kFloat32) {
  TableSpec spec;
  spec.name = "words";
  spec.dim = dim;
  spec.data_type = type;
  spec.key_space = key_space;
  spec.tiers = {{.kind = TierKind::kHost, .rows = rows}};
  return spec;
}

uint64_t TakenBytes(const TableSpec& spec) {
  auto table = CreateCpuTable(spec);
  REQUIRE(table.ok());
  return (*table)->Stats().tiers.back().memory_bytes;
}

TEST_CASE("a hashed table takes 1.05 times its row bytes and 32 bytes a row") {
  for (const Eviction eviction : {Eviction::kNone, Eviction::kLru}) {
    for (const DataType type : {DataType::kFloat32, DataType::kFloat16,
                                DataType::kBFloat16, DataType::kInt8}) {
      for (const uint32_t dim : {1, 2, 3, 5, 7, 64, 100, 101, 8192}) {
        for (const uint64_t rows : {128, 1000, 4096, 100'003, 10'000'000}) {
          TableSpec spec = Spec(KeySpace::kHashed, rows, dim, type);
          spec.eviction = eviction;
          const double budget =
              static_cast<double>(rows) *
              (1.05 * static_cast<double>(spec.row_bytes()) + 32);
          INFO(rows << " rows of dim " << dim << ' '
                    << std::string(DataTypeName(type)));
          CHECK(static_cast<double>(CpuTableMemoryBytes(spec)) <= budget);
        }
      }
    }
  }
}

TEST_CASE("smaller tables take five rows and a bucket more at most") {
  for (const uint32_t dim : {1, 64, 8192}) {
    for (uint64_t rows = 1; rows < 128; ++rows) {
      const TableSpec spec = Spec(KeySpace::kHashed, rows, dim);
      const double row_bytes = static_cast<double>(spec.row_bytes());
      CHECK(static_cast<double>(CpuTableMemoryBytes(spec)) <=
            static_cast<double>(rows) * (1.05 * row_bytes + 32) +
                5 * (row_bytes + 16) + 192);
    }
  }
}

TEST_CASE("what is announced is what is taken") {
  for (const KeySpace key_space : {KeySpace::kDense, KeySpace::kHashed}) {
    for (const uint64_t rows : {1, 10, 1000, 100'000}) {
      TableSpec spec = Spec(key_space, rows, 16);
      CHECK(TakenBytes(spec) == CpuTableMemoryBytes(spec));
      if (key_space == KeySpace::kDense) continue;
      spec.eviction = Eviction::kLfu;
      CHECK(TakenBytes(spec) == CpuTableMemoryBytes(spec));
    }
  }
}

// Resident memory of this process, without the pages of files, which the kernel
// drops when others need memory.
uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word && word != "RssAnon:") continue;
  uint64_t kibibytes = 0;
  file >> kibibytes;
  REQUIRE(kibibytes > 0);
  return kibibytes * 1024;
}

TEST_CASE("memory is taken at start, and given back") {
  if (kUnderSanitizer) GATHERD_SKIP("a sanitizer keeps freed memory");
  const TableSpec spec = Spec(KeySpace::kHashed, 200'000, 64);
  // What else the process takes or gives back meanwhile; sanitizers take most.
  constexpr double kOther = 16e6;
  const uint64_t before = ResidentBytes();
  auto table = CreateCpuTable(spec);
  REQUIRE(table.ok());
  const uint64_t taken = ResidentBytes() - before;
  const double announced = static_cast<double>(CpuTableMemoryBytes(spec));
  CHECK(static_cast<double>(taken) > 0.95 * announced);
  CHECK(static_cast<double>(taken) < 1.05 * announced + kOther);
  table->reset();
  CHECK(static_cast<double>(ResidentBytes()) <
        static_cast<double>(before) + kOther);
}

TEST_CASE("loading and dropping tables holds memory level") {
  if (kUnderSanitizer) GATHERD_SKIP("a sanitizer keeps freed memory");
  const TableSpec spec = Spec(KeySpace::kHashed, 20'000, 64);
  uint64_t first = 0;
  for (int i = 0; i < 20; ++i) {
    REQUIRE(CreateCpuTable(spec).ok());
    if (i == 2) first = ResidentBytes();
  }
  CHECK(ResidentBytes() < first + 2 * CpuTableMemoryBytes(spec));
}

TEST_CASE("a table that the machine has no memory for is refused") {
  for (const KeySpace key_space : {KeySpace::kDense, KeySpace::kHashed}) {
    const TableSpec spec = Spec(key_space, 4'000'000'000, 8192);
    auto table = CreateCpuTable(spec);
    CHECK(table.status().code() == absl::StatusCode::kResourceExhausted);
    const std::string text(table.status().message());
    CHECK_THAT(text, Contains("words"));
    CHECK_THAT(text, Contains(std::to_string(CpuTableMemoryBytes(spec))));
  }
}

TEST_CASE("a bad spec is refused, not built") {
  CHECK(CreateCpuTable(Spec(KeySpace::kDense, 0, 4)).status().code() ==
        absl::StatusCode::kInvalidArgument);
}

TEST_CASE("tiers that are stores are not implemented yet") {
  for (const TierKind kind : {TierKind::kRocksDb, TierKind::kRedis}) {
    TableSpec spec = Spec(KeySpace::kHashed, 10, 4);
    spec.tiers.push_back({.kind = kind, .rows = 100});
    const absl::Status status = CreateCpuTable(spec).status();
    CHECK(status.code() == absl::StatusCode::kUnimplemented);
    CHECK_THAT(std::string(status.message()),
               Contains(std::string(TierKindName(kind))));
  }
}

TEST_CASE("a cache over a table collapses into it, and is shown all the same") {
  TableSpec spec = Spec(KeySpace::kHashed, 100, 1);
  spec.tiers.insert(spec.tiers.begin(), {.kind = TierKind::kGpu, .rows = 10});
  auto table = CreateCpuTable(spec);
  REQUIRE(table.ok());
  const auto set = [&](const std::vector<int64_t>& keys) {
    const std::vector<float> values(keys.size());
    UpdateBatch batch;
    batch.keys = keys;
    batch.values = reinterpret_cast<const std::byte*>(values.data());
    REQUIRE(Update(**table, batch).ok());
  };
  const auto hits = [&](const std::vector<int64_t>& keys) {
    std::vector<float> rows(keys.size());
    std::vector<uint8_t> missing(keys.size());
    LookupBatch batch;
    batch.keys = keys;
    auto result = (*table)->Lookup(
        batch, {reinterpret_cast<std::byte*>(rows.data()), missing.data()});
    REQUIRE(result.ok());
    return std::vector<uint64_t>{result->tier_hits[0], result->tier_hits[1]};
  };
  set({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(hits({1, 2, 77}) == std::vector<uint64_t>{2, 0});
  set({10});
  CHECK(hits({1, 2, 77}) == std::vector<uint64_t>{0, 2});
  const TableStats stats = (*table)->Stats();
  REQUIRE(stats.tiers.size() == 2);
  CHECK(stats.tiers[0].kind == TierKind::kGpu);
  CHECK(stats.tiers[0].capacity_rows == 10);
  CHECK(stats.tiers[0].num_rows == 10);
  CHECK(stats.tiers[0].memory_bytes == 0);
  CHECK(stats.tiers[1].kind == TierKind::kHost);
  CHECK(stats.tiers[1].capacity_rows == 100);
  CHECK(stats.tiers[1].num_rows == 11);
  CHECK(stats.tiers[1].memory_bytes > 0);
}

}  // namespace
}  // namespace gatherd
