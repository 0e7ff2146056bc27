// The table contract: random operations, each compared with a plain model.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "testing/random_floats.h"
#include "testing/reference_rows.h"
#include "tests/core/table/table_contract.h"
#include "tests/core/table/table_model.h"

namespace gatherd {
namespace {

constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat16,
                               DataType::kBFloat16, DataType::kInt8};

// Bit by bit, but a NaN may have any sign and payload: infinities that meet in
// a sum give one on a CPU and another on a GPU.
bool AreSame(const std::byte* rows, const std::byte* expected, size_t num_rows,
             DataType type, uint32_t dim) {
  const size_t row_bytes = RowBytes(type, dim);
  if (std::equal(rows, rows + num_rows * row_bytes, expected)) return true;
  if (type == DataType::kInt8) return false;  // has no NaN
  for (size_t row = 0; row < num_rows; ++row) {
    const auto a = ReferenceToFloats(rows + row * row_bytes, type, dim);
    const auto b = ReferenceToFloats(expected + row * row_bytes, type, dim);
    for (uint32_t i = 0; i < dim; ++i) {
      const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
      if (!both_nan && std::memcmp(&a[i], &b[i], sizeof(float)) != 0) {
        return false;
      }
    }
  }
  return true;
}

// Operations on one table and its model, from a fixed seed.
class RandomTest {
 public:
  RandomTest(const TableKind& kind, const TableOptions& options, uint32_t seed)
      : kind_(kind),
        table_(kind, options),
        model_(table_.spec()),
        random_(seed) {}

  void Run(int num_operations) {
    for (int i = 0; i < num_operations; ++i) {
      INFO("operation " << i);
      switch (Below(8)) {
        case 0:
          CheckErase();
          break;
        case 1:
        case 2:
        case 3:
          CheckUpdate();
          break;
        default:
          CheckLookup();
          break;
      }
    }
    CheckScan();
  }

 private:
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  // Keys around the bounds of the table and of 64 bits, with repetitions; a
  // few more different ones than a hashed table has rows.
  std::vector<int64_t> RandomKeys(size_t max_keys) {
    const int64_t rows = static_cast<int64_t>(table_.spec().rows());
    const int64_t edges[] = {0,       -1,      rows - 1,  rows,
                             kMinKey, kMaxKey, 1ll << 32, (1ll << 32) + 1};
    std::vector<int64_t> keys(Below(max_keys + 1));
    for (int64_t& key : keys) {
      key = Below(16) == 0 ? edges[Below(8)]
                           : static_cast<int64_t>(Below(rows + 4)) - 2;
    }
    return keys;
  }

  std::vector<std::byte> RandomValues(size_t num_rows, DataType type) {
    std::vector<std::byte> values;
    std::vector<float> row(table_.spec().dim);
    for (size_t i = 0; i < num_rows; ++i) {
      const float scale = Below(10) == 0 ? 1e6f : 10;
      for (float& value : row) {
        value = Below(10) == 0 ? 0 : scale * RandomNormal(random_);
      }
      const auto bytes = ReferenceFromFloats(row, type);
      values.insert(values.end(), bytes.begin(), bytes.end());
    }
    return values;
  }

  void CheckUpdate() {
    // The model does not know what the first of two batches pushes out.
    const size_t num_batches = Evicts() ? 1 : 1 + Below(2);
    std::vector<std::vector<int64_t>> keys;
    std::vector<std::vector<std::byte>> values;
    std::vector<UpdateBatch> batches(num_batches);
    for (UpdateBatch& batch : batches) {
      batch.mode = static_cast<UpdateMode>(Below(3));
      batch.data_type = kTypes[Below(4)];
      keys.push_back(RandomKeys(70));
      values.push_back(RandomValues(keys.back().size(), batch.data_type));
    }
    for (size_t i = 0; i < num_batches; ++i) {
      batches[i].keys = keys[i];
      batches[i].values = values[i].data();
    }
    auto prepared = table_.table().PrepareUpdate(batches);
    const bool fits =
        kind_.key_space == KeySpace::kDense || Evicts() ||
        model_.num_rows() + model_.NumNew(batches) <= table_.spec().rows();
    REQUIRE(prepared.ok() == fits);
    if (!fits) return;
    const auto committed = (*prepared)->Commit();
    prepared->reset();
    REQUIRE(committed.ok());
    const std::vector<UpdateResult>& results = *committed;
    REQUIRE(results.size() == num_batches);
    for (size_t i = 0; i < num_batches; ++i) {
      const UpdateResult expected = model_.Update(batches[i]);
      REQUIRE(results[i].revision == expected.revision);
      if (Evicts()) continue;
      REQUIRE(results[i].num_updated == expected.num_updated);
      REQUIRE(results[i].num_inserted == expected.num_inserted);
      REQUIRE(results[i].num_skipped == expected.num_skipped);
      REQUIRE(results[i].num_evicted == 0);
    }
    if (Evicts()) ForgetEvicted();
    REQUIRE(table_.num_rows() == model_.num_rows());
  }

  // What the table says is gone may be gone, if that many had to leave.
  void ForgetEvicted() {
    std::vector<int64_t> keys;
    for (const auto& [key, row] : model_.rows()) keys.push_back(key);
    const Answer answer = table_.Get(keys);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (answer.missing[i]) model_.Forget(keys[i]);
    }
    REQUIRE(table_.num_rows() <= table_.spec().rows());
  }

  bool Evicts() const { return table_.spec().eviction != Eviction::kNone; }

  void CheckErase() {
    const std::vector<int64_t> keys = RandomKeys(20);
    const EraseResult expected = model_.Erase(keys);
    const EraseResult result = table_.Erase(keys);
    REQUIRE(result.num_erased == expected.num_erased);
    REQUIRE(result.revision == expected.revision);
    REQUIRE(table_.num_rows() == model_.num_rows());
  }

  void CheckLookup() {
    const TableSpec& spec = table_.spec();
    const std::vector<int64_t> keys = RandomKeys(Below(8) == 0 ? 1500 : 80);
    std::vector<uint32_t> offsets;
    std::vector<float> weights;
    LookupBatch batch;
    batch.keys = keys;
    batch.output_type = kTypes[Below(4)];
    batch.pooling = static_cast<Pooling>(Below(3));
    if (batch.pooling != Pooling::kNone) {
      offsets.assign(Below(20) + (keys.empty() ? 0 : 1), 0);
      for (uint32_t& offset : offsets) {
        offset = static_cast<uint32_t>(Below(keys.size() + 1));
      }
      if (!offsets.empty()) offsets[0] = 0;
      std::sort(offsets.begin(), offsets.end());
      if (Below(2) == 0) {
        for (size_t i = 0; i < keys.size(); ++i) {
          weights.push_back(static_cast<float>(Below(9)) / 4 - 1);
        }
      }
    }
    batch.offsets = offsets;
    batch.weights = weights;
    const Answer answer = table_.Lookup(batch);
    INFO("output type " << static_cast<int>(batch.output_type) << ", pooling "
                        << static_cast<int>(batch.pooling) << ", "
                        << weights.size() << " weights");
    REQUIRE(AreSame(answer.rows.data(), model_.Lookup(batch).data(),
                    batch.num_output_rows(), batch.output_type, spec.dim));
    for (size_t i = 0; i < keys.size(); ++i) {
      if (answer.missing[i] == model_.Has(keys[i])) FAIL("key " << keys[i]);
    }
  }

  void CheckScan() {
    std::set<int64_t> seen;
    size_t num_wrong = 0;
    const TableSpec& spec = table_.spec();
    auto revision = table_.table().Scan(
        [&](absl::Span<const int64_t> keys, const std::byte* rows) {
          for (const int64_t key : keys) {
            const auto& row = model_.RowOf(key);
            const bool is_new = seen.insert(key).second;
            num_wrong +=
                is_new && model_.Has(key) &&
                        AreSame(row.data(), rows, 1, spec.data_type, spec.dim)
                    ? 0
                    : 1;
            rows += spec.row_bytes();
          }
          return absl::OkStatus();
        });
    REQUIRE(revision.ok());
    REQUIRE(num_wrong == 0);
    REQUIRE(seen.size() == model_.num_rows());
  }

  const TableKind& kind_;
  TestTable table_;
  TableModel model_;
  std::mt19937 random_;
};

TEST_CASE("random operations agree with the model", "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    for (const DataType type : kTypes) {
      for (const uint32_t dim : {1, 3, 5, 7, 100}) {
        DYNAMIC_SECTION(kind.name << ' ' << std::string(DataTypeName(type))
                                  << ' ' << dim) {
          RandomTest(kind,
                     {.rows = 60,
                      .dim = dim,
                      .data_type = type,
                      .default_value = 0.25f},
                     dim)
              .Run(120);
        }
      }
    }
  }
}

TEST_CASE("random operations on the widest rows agree with the model",
          "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    for (const DataType type : kTypes) {
      DYNAMIC_SECTION(kind.name << ' ' << std::string(DataTypeName(type))) {
        RandomTest(kind, {.rows = 30, .dim = kMaxDim, .data_type = type}, 7)
            .Run(12);
      }
    }
  }
}

TEST_CASE("random operations on tables of any size agree with the model",
          "[contract]") {
  for (const TableKind& kind : TableKinds()) {
    for (const uint64_t rows : {1, 2, 7, 8, 9, 33, 500}) {
      DYNAMIC_SECTION(kind.name << ' ' << rows) {
        RandomTest(kind, {.rows = rows, .dim = 4}, static_cast<uint32_t>(rows))
            .Run(300);
      }
    }
  }
}

TEST_CASE("random operations on evicting tables agree with the model",
          "[contract]") {
  for (const TableKind& kind : TableKinds(KeySpace::kHashed)) {
    for (const Eviction eviction : {Eviction::kLru, Eviction::kLfu}) {
      for (const uint64_t rows : {1, 10, 50, 2000}) {
        DYNAMIC_SECTION(kind.name << ' ' << EvictionName(eviction) << ' '
                                  << rows) {
          RandomTest(kind, {.rows = rows, .dim = 4, .eviction = eviction},
                     static_cast<uint32_t>(rows))
              .Run(300);
        }
      }
    }
  }
}

}  // namespace
}  // namespace gatherd
