#include "tests/gpu/test_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include "core/base/data_type.h"
#include "testing/random_floats.h"
#include "testing/reference_rows.h"

namespace gatherd::kernels {
namespace {

// Mostly of the size that models hold; one row in ten is any bits.
std::vector<char> RandomRow(ElementType type, uint32_t dim,
                            std::mt19937_64* random) {
  std::vector<char> row(RowBytes(type, dim));
  if ((*random)() % 10 == 0) {
    for (char& byte : row) byte = static_cast<char>((*random)());
    return row;
  }
  std::vector<float> values(dim);
  for (float& value : values) value = RandomNormal(*random);
  const std::vector<std::byte> bytes =
      ReferenceFromFloats(values, static_cast<DataType>(type));
  std::memcpy(row.data(), bytes.data(), row.size());
  return row;
}

std::vector<std::byte> ToBytes(const char* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  return {bytes, bytes + size};
}

}  // namespace

TestTable::TestTable(RigOptions options, uint32_t num_keys, uint32_t seed)
    : options_(options), rig_(options), ref_(rig_.table()) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> keys = {0, -1, std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max()};
  keys.resize(std::min<size_t>(keys.size(), num_keys));
  while (keys.size() < num_keys) {
    keys.push_back(static_cast<int64_t>(random()));
  }
  if (!options.hashed) {
    keys.resize(options.num_rows);
    for (size_t i = 0; i < keys.size(); i++) keys[i] = static_cast<int64_t>(i);
  }
  const std::vector<char> default_row =
      MakeRow(options.type, options.dim, options.default_value);
  default_row_ = ToBytes(default_row.data(), default_row.size());
  for (size_t first = 0; first < keys.size(); first += options.max_keys) {
    const size_t end = std::min(keys.size(), first + options.max_keys);
    const std::vector<int64_t> some(keys.begin() + first, keys.begin() + end);
    std::vector<char> values;
    for (const int64_t key : some) {
      const std::vector<char> row =
          RandomRow(options.type, options.dim, &random);
      rows_[key] = ToBytes(row.data(), row.size());
      values.insert(values.end(), row.begin(), row.end());
    }
    REQUIRE(
        rig_.Update(some, values, options.type, WriteMode::kSet).num_failed ==
        0);
  }
  ReadPlaces();
  REQUIRE(places_.size() == rows_.size());
}

void TestTable::ReadPlaces() {
  if (!options_.hashed) {
    for (const auto& row : rows_) {
      const auto stripe = static_cast<uint64_t>(row.first) >> kStripeShift;
      places_[row.first] = {static_cast<uint32_t>(stripe % options_.num_shards),
                            0};
    }
    return;
  }
  const size_t per_shard = size_t{options_.num_buckets} * kEntriesPerBucket;
  std::vector<IndexEntry> entries(per_shard * options_.num_shards);
  Copy(entries.data(), ref_.index, entries.size() * sizeof(IndexEntry));
  for (size_t i = 0; i < entries.size(); i++) {
    if ((entries[i].meta & kStateMask) != kValid) continue;
    places_[entries[i].key] = {static_cast<uint32_t>(i / per_shard),
                               entries[i].row};
  }
}

const TestTable::Place* TestTable::Find(int64_t key) const {
  const auto found = places_.find(key);
  return found == places_.end() ? nullptr : &found->second;
}

const std::byte* TestTable::RowOf(int64_t key) const {
  const auto found = rows_.find(key);
  return (found == rows_.end() ? default_row_ : found->second).data();
}

std::vector<int64_t> TestTable::PresentKeys() const {
  std::vector<int64_t> keys;
  for (const auto& row : rows_) keys.push_back(row.first);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<int64_t> TestTable::RandomKeys(size_t count, uint32_t seed) const {
  const std::vector<int64_t> present = PresentKeys();
  const auto num_rows = static_cast<int64_t>(options_.num_rows);
  const std::vector<int64_t> extreme = {std::numeric_limits<int64_t>::min(),
                                        std::numeric_limits<int64_t>::max(),
                                        -1,
                                        0,
                                        1,
                                        num_rows - 1,
                                        num_rows,
                                        int64_t{1} << 32,
                                        int64_t{1} << 58};
  std::mt19937_64 random(seed);
  std::vector<int64_t> keys(count);
  for (int64_t& key : keys) {
    const uint64_t choice = random() % 10;
    key = choice == 0   ? static_cast<int64_t>(random())
          : choice == 1 ? extreme[random() % extreme.size()]
                        : present[random() % present.size()];
  }
  return keys;
}

}  // namespace gatherd::kernels
