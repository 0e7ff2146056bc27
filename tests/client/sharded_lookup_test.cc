#include "client/sharded_lookup.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"

namespace gatherd::client {
namespace {

constexpr uint32_t kDim = 3;
constexpr size_t kNumServers = 3;

Rendezvous Owners() {
  const std::vector<std::string> names = {"a:1", "b:1", "c:1"};
  return Rendezvous(names);
}

// Small whole numbers, whose sums are exact in any order; none for every
// seventh key.
bool Has(int64_t key) { return key % 7 != 0; }
float Value(int64_t key, uint32_t column) {
  return Has(key) ? static_cast<float>(key % 100 + column) : 0;
}

int64_t KeyAt(const TableLookup& lookup, size_t i) {
  return lookup.keys32.empty() ? lookup.keys[i] : int64_t{lookup.keys32[i]};
}

size_t NumKeys(const TableLookup& lookup) {
  return lookup.keys.size() + lookup.keys32.size();
}

// What a server answers that has the whole table, as the contract has it.
struct Answer {
  std::vector<float> values;
  std::string missing;
  uint32_t num_missing = 0;

  explicit Answer(const TableLookup& lookup) {
    const size_t num_keys = NumKeys(lookup);
    const bool is_pooled = lookup.pooling != Pooling::kNone;
    const size_t num_rows = is_pooled ? lookup.offsets.size() : num_keys;
    values.resize(num_rows * kDim);
    std::vector<float> weights(num_rows);
    size_t row = 0;
    for (size_t i = 0; i < num_keys; ++i) {
      const int64_t key = KeyAt(lookup, i);
      while (is_pooled && row + 1 < num_rows && lookup.offsets[row + 1] <= i) {
        ++row;
      }
      const float weight = lookup.weights.empty() ? 1 : lookup.weights[i];
      for (uint32_t j = 0; j < kDim; ++j) {
        values[(is_pooled ? row : i) * kDim + j] += weight * Value(key, j);
      }
      weights[is_pooled ? row : i] += weight;
      if (Has(key)) continue;
      missing.resize((num_keys + 7) / 8);
      missing[i / 8] = static_cast<char>(missing[i / 8] | 1 << i % 8);
      ++num_missing;
    }
    if (lookup.pooling != Pooling::kMean) return;
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = weights[i / kDim] == 0 ? 0 : values[i] / weights[i / kDim];
    }
  }

  TableRows Rows() const {
    TableRows::Fields fields;
    fields.dim = kDim;
    fields.num_rows = static_cast<uint32_t>(values.size() / kDim);
    fields.values = {reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(float)};
    fields.missing = missing;
    fields.num_missing = num_missing;
    return *TableRows::Create(fields);
  }
};

// Asks as many servers as there are, but for one that is lost.
class Asked {
 public:
  explicit Asked(const TableLookup& lookup, size_t lost = kNumServers,
                 const TableShape& known = {}) {
    const auto sharded = ShardedLookup::Create(lookup, Owners(), kNumServers);
    REQUIRE(sharded.ok());
    std::vector<const TableRows*> rows(kNumServers);
    for (size_t i = 0; i < kNumServers; ++i) {
      if (!sharded->IsAsked(i)) continue;
      const TableLookup request = sharded->Request(i);
      CHECK(request.pooling != Pooling::kMean);
      num_keys_ += NumKeys(request);
      if (i == lost) continue;
      answers_.emplace_back(request);
      rows_.push_back(answers_.back().Rows());
      rows[i] = &rows_.back();
    }
    merged_ = sharded->Merge(rows, known, &values_, &missing_);
  }

  const absl::StatusOr<TableRows>& merged() const { return merged_; }
  size_t num_keys() const { return num_keys_; }

 private:
  size_t num_keys_ = 0;
  std::deque<Answer> answers_;
  std::deque<TableRows> rows_;
  std::vector<std::byte> values_;
  std::string missing_;
  absl::StatusOr<TableRows> merged_ = absl::UnknownError("");
};

void CheckSame(const TableRows& found, const TableRows& expected,
               size_t num_keys) {
  REQUIRE(found.num_rows() == expected.num_rows());
  CHECK(found.dim() == expected.dim());
  CHECK(found.num_missing() == expected.num_missing());
  for (size_t i = 0; i < found.num_rows(); ++i) {
    const std::vector<float> row = found.Floats(i);
    const std::vector<float> expected_row = expected.Floats(i);
    for (uint32_t j = 0; j < kDim; ++j) {
      CHECK(row[j] == Approx(expected_row[j]).epsilon(1e-6));
    }
  }
  for (size_t i = 0; i < num_keys; ++i) {
    REQUIRE(found.IsMissing(i) == expected.IsMissing(i));
  }
}

std::vector<int64_t> RandomKeys(size_t num_keys, std::mt19937& random) {
  std::vector<int64_t> keys(num_keys);
  for (int64_t& key : keys) key = static_cast<int64_t>(random() % 1000);
  return keys;
}

}  // namespace

TEST_CASE("Rows of several servers are as of one, in the order asked for") {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    const std::vector<int64_t> keys = RandomKeys(random() % 80, random);
    const std::vector<uint32_t> narrow(keys.begin(), keys.end());
    TableLookup lookup{"words", keys};
    if (round % 2 == 0) {
      lookup.keys = {};
      lookup.keys32 = narrow;
    }
    const Asked asked(lookup);
    REQUIRE(asked.merged().ok());
    CHECK(asked.num_keys() == keys.size());
    CheckSame(*asked.merged(), Answer(lookup).Rows(), keys.size());
  }
}

TEST_CASE("Bags over several servers add up") {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    const std::vector<int64_t> keys = RandomKeys(random() % 80, random);
    std::vector<uint32_t> offsets(1 + random() % 20);
    for (uint32_t& offset : offsets) {
      offset = static_cast<uint32_t>(random() % (keys.size() + 1));
    }
    offsets[0] = 0;
    std::sort(offsets.begin(), offsets.end());
    std::vector<float> weights(keys.size());
    for (float& weight : weights) {
      weight = static_cast<float>(random() % 5) - 1;
    }
    TableLookup lookup{"words", keys, Pooling::kSum, offsets};
    if (round % 2 == 0) lookup.pooling = Pooling::kMean;
    if (round % 3 == 0) lookup.weights = weights;
    const Asked asked(lookup);
    REQUIRE(asked.merged().ok());
    CheckSame(*asked.merged(), Answer(lookup).Rows(), keys.size());
  }
}

TEST_CASE("Keys of a lost server are missing, with rows of zeros") {
  const Rendezvous owners = Owners();
  std::vector<int64_t> keys;
  for (int64_t key = 1; key < 50; ++key) keys.push_back(key);
  const TableLookup lookup{"words", keys};
  const Asked asked(lookup, 1);
  REQUIRE(asked.merged().ok());
  const TableRows& rows = *asked.merged();
  uint32_t num_missing = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    const bool is_lost = owners.Owner(keys[i]) == 1;
    CHECK(rows.IsMissing(i) == (is_lost || !Has(keys[i])));
    num_missing += rows.IsMissing(i) ? 1 : 0;
    CHECK(rows.Floats(i)[1] == (is_lost ? 0 : Value(keys[i], 1)));
  }
  CHECK(rows.num_missing() == num_missing);
}

TEST_CASE("Bags are pooled without the keys of a lost server") {
  const Rendezvous owners = Owners();
  std::vector<int64_t> keys, found;
  for (int64_t key = 1; key < 50; ++key) {
    keys.push_back(key);
    if (owners.Owner(key) != 1) found.push_back(key);
  }
  const uint32_t offsets[] = {0};
  const TableLookup lookup{"words", keys, Pooling::kMean, offsets};
  const Asked asked(lookup, 1);
  REQUIRE(asked.merged().ok());
  const Answer rest({"words", found, Pooling::kMean, offsets});
  CHECK(asked.merged()->Floats(0)[0] == Approx(rest.values[0]));
}

TEST_CASE("Where nobody answers, rows look as they did before") {
  const Rendezvous owners = Owners();
  int64_t key = 1;
  while (owners.Owner(key) != 2) ++key;
  const int64_t keys[] = {key};
  const TableLookup lookup{"words", keys};
  CHECK(absl::IsUnavailable(Asked(lookup, 2).merged().status()));
  TableShape known{5, std::nullopt};
  CHECK(absl::IsUnavailable(Asked(lookup, 2, known).merged().status()));
  known.data_type = DataType::kFloat16;
  const Asked asked(lookup, 2, known);
  REQUIRE(asked.merged().ok());
  CHECK(asked.merged()->dim() == 5);
  CHECK(asked.merged()->data_type() == DataType::kFloat16);
  CHECK(asked.merged()->Floats(0) == std::vector<float>(5));
  CHECK(asked.merged()->IsMissing(0));
}

TEST_CASE("What cannot be cut is refused, and said why") {
  const int64_t keys[] = {1, 2, 3};
  const uint32_t keys32[] = {1};
  const uint32_t offsets[] = {0, 2};
  const uint32_t falling[] = {0, 2, 1};
  const uint32_t late[] = {1, 2};
  const uint32_t beyond[] = {0, 4};
  const float weights[] = {1, 2};
  TableLookup both{"words", keys};
  both.keys32 = keys32;
  TableLookup narrow{"words", keys, Pooling::kSum, offsets};
  narrow.output_type = DataType::kFloat16;
  TableLookup unpooled{"words", keys};
  unpooled.offsets = offsets;
  const std::pair<TableLookup, const char*> lookups[] = {
      {both, "exclude"},
      {narrow, "float32"},
      {unpooled, "for pooling"},
      {{"words", keys, Pooling::kSum}, "offsets is empty"},
      {{"words", keys, Pooling::kSum, falling}, "1 after 2"},
      {{"words", keys, Pooling::kSum, late}, "must be 0"},
      {{"words", keys, Pooling::kSum, beyond}, "4 after 0 for 3 keys"},
      {{"words", keys, Pooling::kSum, offsets, weights}, "2 values"},
  };
  for (const auto& [lookup, text] : lookups) {
    const absl::Status status =
        ShardedLookup::Create(lookup, Owners(), kNumServers).status();
    INFO(status);
    CHECK(absl::IsInvalidArgument(status));
    CHECK(absl::StrContains(status.message(), text));
    CHECK(absl::StrContains(status.message(), "table \"words\""));
  }
}

TEST_CASE("A table that differs from server to server is told") {
  std::vector<int64_t> keys;
  for (int64_t key = 1; key < 50; ++key) keys.push_back(key);
  const TableLookup lookup{"words", keys};
  const auto sharded = ShardedLookup::Create(lookup, Owners(), kNumServers);
  REQUIRE(sharded.ok());
  const Answer first(sharded->Request(0));
  const TableRows rows = first.Rows();
  const size_t num_keys = sharded->Request(1).keys.size();
  const std::string values(num_keys * 8, '\0');
  TableRows::Fields fields;
  fields.dim = 2;
  fields.num_rows = static_cast<uint32_t>(num_keys);
  fields.values = values;
  const TableRows other = *TableRows::Create(fields);
  std::vector<std::byte> bytes;
  std::string missing;
  const TableRows* answers[] = {&rows, &other, nullptr};
  CHECK(absl::IsFailedPrecondition(
      sharded->Merge(answers, {}, &bytes, &missing).status()));
  const TableRows* swapped[] = {&other, &rows, nullptr};
  CHECK_FALSE(sharded->Merge(swapped, {}, &bytes, &missing).ok());
}

}  // namespace gatherd::client
