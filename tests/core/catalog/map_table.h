// A table that is a std::map, for tests of what stands above tables.
#ifndef GATHERD_TESTS_CORE_CATALOG_MAP_TABLE_H_
#define GATHERD_TESTS_CORE_CATALOG_MAP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/table/table.h"

namespace gatherd {

// Takes SET updates of its own type alone. Refuses, with RESOURCE_EXHAUSTED,
// what would make it hold more keys than `spec.rows()`. Is not looked up.
class MapTable : public Table {
 public:
  explicit MapTable(TableSpec spec) : spec_(std::move(spec)) {}

  // With no writer about.
  const std::map<int64_t, std::string>& rows() const { return rows_; }
  template <typename T>
  std::vector<T> Row(int64_t key) const {
    const std::string& bytes = rows_.at(key);
    std::vector<T> row(bytes.size() / sizeof(T));
    bytes.copy(reinterpret_cast<char*>(row.data()), bytes.size());
    return row;
  }
  uint64_t num_updates() const { return revision_; }

  const TableSpec& spec() const override { return spec_; }
  absl::StatusOr<LookupResult> Lookup(const LookupBatch& batch,
                                      const LookupOutput& output) override;
  absl::StatusOr<std::unique_ptr<PreparedUpdate>> PrepareUpdate(
      absl::Span<const UpdateBatch> batches) override;
  absl::StatusOr<EraseResult> Erase(absl::Span<const int64_t> keys) override;
  absl::StatusOr<uint64_t> Scan(const ScanVisitor& visit) override;
  TableStats Stats() const override;

 private:
  class Prepared;

  UpdateResult Apply(const UpdateBatch& batch);

  const TableSpec spec_;
  std::mutex turn_;  // of writers
  std::map<int64_t, std::string> rows_;
  uint64_t revision_ = 0;
};

// float32, hashed, of at most `rows` keys.
TableSpec MapTableSpec(uint32_t dim, uint64_t rows);

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_CATALOG_MAP_TABLE_H_
