// Real word vectors, as numpy wrote them, into real tables.

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/base/fnv1a.h"
#include "core/catalog/source_loader.h"
#include "core/table/cpu_table.h"

namespace gatherd {
namespace {

constexpr char kRowsPath[] = "testdata/words_2000_100d.npy";
constexpr char kKeysPath[] = "testdata/words_2000_keys.npy";
constexpr uint32_t kDim = 100;
constexpr size_t kNpyHeaderBytes = 128;

std::vector<std::string> Words() {
  std::ifstream file("testdata/words_2000.txt");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word);) words.push_back(word);
  return words;
}

// The elements of the rows file, byte for byte.
std::string RowsInFile() {
  std::ifstream file(kRowsPath, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {})
      .substr(kNpyHeaderBytes);
}

std::unique_ptr<Table> MakeTable(KeySpace key_space, uint64_t rows) {
  TableSpec spec;
  spec.name = "words";
  spec.dim = kDim;
  spec.key_space = key_space;
  spec.tiers.emplace_back().rows = rows;
  auto table = CreateCpuTable(spec);
  REQUIRE(table.ok());
  return *std::move(table);
}

std::string LookUp(Table& table, const std::vector<int64_t>& keys) {
  std::string rows(keys.size() * kDim * sizeof(float), '\0');
  std::vector<uint8_t> missing((keys.size() + 7) / 8);
  LookupBatch batch;
  batch.keys = keys;
  const auto result = table.Lookup(
      batch, {reinterpret_cast<std::byte*>(rows.data()), missing.data()});
  REQUIRE(result.ok());
  CHECK(result->num_missing == 0);
  return rows;
}

TEST_CASE("Word vectors are found by the hash of their word") {
  const std::vector<std::string> words = Words();
  REQUIRE(words.size() == 2000);
  // Room for exactly these.
  auto table = MakeTable(KeySpace::kHashed, words.size());
  LoadProgress progress;
  const auto report = LoadSource({kRowsPath, kKeysPath}, *table, {4}, progress);
  INFO(report.status());
  REQUIRE(report.ok());
  CHECK(report->num_rows == words.size());
  CHECK(report->notes.empty());
  CHECK(table->Stats().num_rows == words.size());

  std::vector<int64_t> keys;
  for (const std::string& word : words) keys.push_back(Fnv1a64(word));
  CHECK(LookUp(*table, keys) == RowsInFile());
}

TEST_CASE("Word vectors are found by their row number") {
  auto table = MakeTable(KeySpace::kDense, 2500);
  LoadProgress progress;
  const auto report = LoadSource({kRowsPath, ""}, *table, {2}, progress);
  INFO(report.status());
  REQUIRE(report.ok());

  std::vector<int64_t> keys(2500);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int64_t>(i);
  const std::string rows = LookUp(*table, keys);
  const std::string in_file = RowsInFile();
  CHECK(rows.substr(0, in_file.size()) == in_file);
  // What the source leaves out is the default row.
  CHECK(rows.find_first_not_of('\0', in_file.size()) == std::string::npos);
}

TEST_CASE("More words than a table has room for are refused") {
  for (const KeySpace key_space : {KeySpace::kHashed, KeySpace::kDense}) {
    auto table = MakeTable(key_space, 1999);
    LoadProgress progress;
    const auto report =
        LoadSource({kRowsPath, key_space == KeySpace::kHashed ? kKeysPath : ""},
                   *table, {2}, progress);
    CHECK(absl::IsInvalidArgument(report.status()));
    CHECK_THAT(std::string(report.status().message()),
               Catch::Matchers::StartsWith(kRowsPath) &&
                   Catch::Matchers::Contains("1999"));
  }
}

}  // namespace
}  // namespace gatherd
