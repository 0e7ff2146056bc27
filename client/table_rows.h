// The rows that a lookup of one table returned: a view onto the reply, which
// the LookupReply it came from owns.
#ifndef GATHERD_CLIENT_TABLE_ROWS_H_
#define GATHERD_CLIENT_TABLE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/row_runs.h"
#include "core/base/data_type.h"

namespace gatherd::client {

class TableRows {
 public:
  struct Fields {
    DataType data_type = DataType::kFloat32;
    uint32_t dim = 0;
    uint32_t num_rows = 0;
    // All rows in one piece, or else in runs that the LookupReply owns.
    std::string_view values;
    absl::Span<const RowRun> runs;
    std::string_view missing;
    uint32_t num_missing = 0;
    uint64_t revision = 0;
  };

  // INTERNAL if the fields contradict each other: a reply is checked before
  // anyone indexes into it.
  static absl::StatusOr<TableRows> Create(const Fields& fields);

  // The same of rows that are not yet put into `fields`.
  static absl::Status CheckSizes(const Fields& fields, uint64_t num_bytes);

  DataType data_type() const { return fields_.data_type; }
  uint32_t dim() const { return fields_.dim; }
  // Keys, or bags under pooling.
  uint32_t num_rows() const { return fields_.num_rows; }
  // Keys that were missing, also under pooling.
  uint32_t num_missing() const { return fields_.num_missing; }
  uint64_t revision() const { return fields_.revision; }
  size_t row_bytes() const { return RowBytes(data_type(), dim()); }

  // Indexes keys, also under pooling. A key beyond the last is not missing.
  bool IsMissing(size_t key_index) const;

  // Row `i` < num_rows(), in the layout of data_type().
  absl::Span<const std::byte> row(size_t i) const;

  // Calls visit(first_row, bytes) for all rows in their order, as many at a
  // time as lie one after the other in memory: a large reply comes in pieces.
  // `bytes` is an absl::Span<const std::byte> of whole rows.
  template <typename Visitor>
  void VisitRuns(Visitor visit) const {
    if (fields_.runs.empty()) {
      visit(uint32_t{0}, Whole());
    } else {
      for (const RowRun& run : fields_.runs) visit(run.first_row, run.bytes);
    }
  }

  // All rows in one piece; `rows` takes num_rows() * row_bytes().
  void CopyRows(std::byte* rows) const;

  // Row `i` as float32, whatever its type; `values` takes dim() of them.
  void ReadFloats(size_t i, float* values) const;
  std::vector<float> Floats(size_t i) const;

 private:
  explicit TableRows(const Fields& fields) : fields_(fields) {}

  absl::Span<const std::byte> Whole() const;

  Fields fields_;
};

// The answer to a Lookup: one TableRows for each TableLookup, in order. Cheap
// to copy; copies share the reply's memory.
class LookupReply {
 public:
  LookupReply() = default;  // to no lookup
  LookupReply(std::shared_ptr<const void> owner, std::vector<TableRows> tables)
      : owner_(std::move(owner)), tables_(std::move(tables)) {}

  size_t size() const { return tables_.size(); }
  const TableRows& operator[](size_t i) const { return tables_[i]; }
  auto begin() const { return tables_.begin(); }
  auto end() const { return tables_.end(); }

 private:
  std::shared_ptr<const void> owner_;
  std::vector<TableRows> tables_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_TABLE_ROWS_H_
