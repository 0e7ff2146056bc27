#include "tests/core/table/table_contract.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

namespace gatherd {
namespace {

std::unique_ptr<Table> Make(const TableKind& kind, const TableSpec& spec) {
  auto table = kind.create(spec);
  INFO(table.status().ToString());
  REQUIRE(table.ok());
  return *std::move(table);
}

UpdateBatch BatchOf(const std::vector<int64_t>& keys,
                    const std::vector<float>& values, UpdateMode mode) {
  UpdateBatch batch;
  batch.keys = keys;
  batch.values = reinterpret_cast<const std::byte*>(values.data());
  batch.mode = mode;
  return batch;
}

}  // namespace

std::vector<TableKind> TableKinds(KeySpace key_space) {
  std::vector<TableKind> kinds;
  for (const TableKind& kind : TableKinds()) {
    if (kind.key_space == key_space) kinds.push_back(kind);
  }
  return kinds;
}

TableSpec SpecOf(const TableKind& kind, const TableOptions& options) {
  TableSpec spec;
  spec.name = "words";
  spec.dim = options.dim;
  spec.data_type = options.data_type;
  spec.key_space = kind.key_space;
  spec.tiers = kind.tiers(options.rows);
  spec.eviction = options.eviction;
  spec.default_value = options.default_value;
  return spec;
}

std::vector<float> Answer::floats() const {
  std::vector<float> values(rows.size() / sizeof(float));
  if (!rows.empty()) std::memcpy(values.data(), rows.data(), rows.size());
  return values;
}

TestTable::TestTable(const TableKind& kind, const TableOptions& options)
    : table_(Make(kind, SpecOf(kind, options))) {}

absl::StatusOr<UpdateResult> TestTable::TryUpdate(
    const std::vector<int64_t>& keys, const std::vector<float>& values,
    UpdateMode mode) {
  REQUIRE(values.size() == keys.size() * spec().dim);
  return Update(*table_, BatchOf(keys, values, mode));
}

UpdateResult TestTable::Set(const std::vector<int64_t>& keys,
                            const std::vector<float>& values) {
  auto result = TryUpdate(keys, values, UpdateMode::kSet);
  INFO(result.status().ToString());
  REQUIRE(result.ok());
  return *result;
}

UpdateResult TestTable::Add(const std::vector<int64_t>& keys,
                            const std::vector<float>& values) {
  auto result = TryUpdate(keys, values, UpdateMode::kAdd);
  REQUIRE(result.ok());
  return *result;
}

UpdateResult TestTable::SetExisting(const std::vector<int64_t>& keys,
                                    const std::vector<float>& values) {
  auto result = TryUpdate(keys, values, UpdateMode::kSetExisting);
  REQUIRE(result.ok());
  return *result;
}

UpdateResult TestTable::SetToKeys(const std::vector<int64_t>& keys,
                                  float offset) {
  std::vector<float> values;
  for (const int64_t key : keys) {
    values.insert(values.end(), spec().dim, static_cast<float>(key) + offset);
  }
  return Set(keys, values);
}

EraseResult TestTable::Erase(const std::vector<int64_t>& keys) {
  auto result = table_->Erase(keys);
  REQUIRE(result.ok());
  return *result;
}

Answer TestTable::Lookup(const LookupBatch& batch) {
  // A guard behind either buffer shows writes past the end.
  constexpr size_t kGuard = 64;
  constexpr std::byte kUntouched{0xa5};
  const size_t num_rows_bytes =
      batch.num_output_rows() * RowBytes(batch.output_type, spec().dim);
  const size_t num_missing_bytes = (batch.keys.size() + 7) / 8;
  Answer answer;
  answer.rows.resize(num_rows_bytes + kGuard, kUntouched);
  std::vector<uint8_t> missing(num_missing_bytes + kGuard);
  auto result = table_->Lookup(batch, {answer.rows.data(), missing.data()});
  REQUIRE(result.ok());
  REQUIRE(std::all_of(answer.rows.begin() + num_rows_bytes, answer.rows.end(),
                      [](std::byte b) { return b == kUntouched; }));
  REQUIRE(std::all_of(missing.begin() + num_missing_bytes, missing.end(),
                      [](uint8_t b) { return b == 0; }));
  answer.rows.resize(num_rows_bytes);
  answer.result = *result;
  uint64_t num_missing = 0;
  for (size_t i = 0; i < 8 * num_missing_bytes; ++i) {
    const bool is_missing = (missing[i / 8] >> i % 8 & 1) != 0;
    num_missing += is_missing ? 1 : 0;
    if (i < batch.keys.size()) answer.missing.push_back(is_missing);
  }
  REQUIRE(result->num_missing == num_missing);
  REQUIRE(std::accumulate(result->tier_hits.begin(), result->tier_hits.end(),
                          uint64_t{0}) == batch.keys.size() - num_missing);
  return answer;
}

Answer TestTable::Get(const std::vector<int64_t>& keys) {
  LookupBatch batch;
  batch.keys = keys;
  batch.output_type = spec().data_type;
  return Lookup(batch);
}

std::vector<float> TestTable::Floats(const std::vector<int64_t>& keys) {
  LookupBatch batch;
  batch.keys = keys;
  return Lookup(batch).floats();
}

bool TestTable::Has(int64_t key) { return !Get({key}).missing[0]; }

std::vector<int64_t> Range(int64_t first, size_t count) {
  std::vector<int64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

}  // namespace gatherd
