// The contract of core/table/table.h as tests that every kind of table of
// every backend passes. The cases are in contract_*.cc and use the Table
// interface alone; a backend links them (:table_contract) and defines
// TableKinds().
#ifndef GATHERD_TESTS_CORE_TABLE_TABLE_CONTRACT_H_
#define GATHERD_TESTS_CORE_TABLE_TABLE_CONTRACT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/table/table.h"

namespace gatherd {

struct TableKind {
  std::string name;
  KeySpace key_space = KeySpace::kHashed;
  // Above the tier that holds every row, with how many rows of `rows`.
  std::function<std::vector<TierSpec>(uint64_t rows)> tiers;
  std::function<absl::StatusOr<std::unique_ptr<Table>>(const TableSpec&)>
      create;
  // Of its rows an evicting table keeps at least this part when it is full.
  double min_full = 1;
  // Whether a small evicting table gives up exactly the coldest rows.
  bool evicts_coldest = true;
};

// Defined by each backend's test.
const std::vector<TableKind>& TableKinds();

std::vector<TableKind> TableKinds(KeySpace key_space);

inline constexpr int64_t kMinKey = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kMaxKey = std::numeric_limits<int64_t>::max();

// What to make a table of a kind with.
struct TableOptions {
  uint64_t rows = 100;
  uint32_t dim = 2;
  DataType data_type = DataType::kFloat32;
  float default_value = 0;
  Eviction eviction = Eviction::kNone;
};

TableSpec SpecOf(const TableKind& kind, const TableOptions& options);

// A lookup's answer.
struct Answer {
  std::vector<std::byte> rows;
  std::vector<bool> missing;  // one a key
  LookupResult result;

  std::vector<float> floats() const;  // of an answer in float32
};

// A table and short words for what tests do with it. Everything is expected to
// succeed unless the name says Try.
class TestTable {
 public:
  TestTable(const TableKind& kind, const TableOptions& options);

  Table& table() { return *table_; }
  const TableSpec& spec() const { return table_->spec(); }

  // Values in float32: dim of them a key.
  UpdateResult Set(const std::vector<int64_t>& keys,
                   const std::vector<float>& values);
  UpdateResult Add(const std::vector<int64_t>& keys,
                   const std::vector<float>& values);
  UpdateResult SetExisting(const std::vector<int64_t>& keys,
                           const std::vector<float>& values);
  // All elements of the row of keys[i] are keys[i] + `offset`.
  UpdateResult SetToKeys(const std::vector<int64_t>& keys, float offset = 0);
  absl::StatusOr<UpdateResult> TryUpdate(const std::vector<int64_t>& keys,
                                         const std::vector<float>& values,
                                         UpdateMode mode);

  EraseResult Erase(const std::vector<int64_t>& keys);

  Answer Lookup(const LookupBatch& batch);
  Answer Get(const std::vector<int64_t>& keys);
  std::vector<float> Floats(const std::vector<int64_t>& keys);
  bool Has(int64_t key);

  uint64_t num_rows() { return table_->Stats().num_rows; }

 private:
  const std::unique_ptr<Table> table_;
};

// first, first + 1, ... : `count` of them.
std::vector<int64_t> Range(int64_t first, size_t count);

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_TABLE_TABLE_CONTRACT_H_
