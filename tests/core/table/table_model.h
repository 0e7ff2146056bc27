// A table as plain as can be: what the real ones are compared with.
#ifndef GATHERD_TESTS_CORE_TABLE_TABLE_MODEL_H_
#define GATHERD_TESTS_CORE_TABLE_TABLE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "core/table/batch.h"
#include "core/table/table_spec.h"

namespace gatherd {

// Without a bound on rows, and without eviction: the test tells it what left.
class TableModel {
 public:
  using Row = std::vector<std::byte>;

  explicit TableModel(const TableSpec& spec);

  // Counts and revision as the table's, num_evicted 0.
  UpdateResult Update(const UpdateBatch& batch);
  EraseResult Erase(absl::Span<const int64_t> keys);

  // The bytes of a lookup's rows.
  std::vector<std::byte> Lookup(const LookupBatch& batch) const;

  bool Has(int64_t key) const;
  const Row& RowOf(int64_t key) const;  // the default row if there is none
  // How many of the keys of `batches`, applied in order, are new.
  uint64_t NumNew(absl::Span<const UpdateBatch> batches) const;
  uint64_t num_rows() const;

  // What eviction took.
  void Forget(int64_t key) { rows_.erase(key); }
  const std::map<int64_t, Row>& rows() const { return rows_; }

 private:
  bool InRange(int64_t key) const;

  const TableSpec spec_;
  Row default_row_;
  std::map<int64_t, Row> rows_;  // those written
  uint64_t revision_ = 0;
};

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_TABLE_TABLE_MODEL_H_
