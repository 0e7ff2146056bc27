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
#include "core/base/data_type.h"

namespace gatherd::client {

class TableRows {
 public:
  struct Fields {
    DataType data_type = DataType::kFloat32;
    uint32_t dim = 0;
    uint32_t num_rows = 0;
    std::string_view values;
    std::string_view missing;
    uint32_t num_missing = 0;
    uint64_t revision = 0;
  };

  // INTERNAL if the fields contradict each other: a reply is checked before
  // anyone indexes into it.
  static absl::StatusOr<TableRows> Create(const Fields& fields);

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

  // All rows, and row `i` < num_rows(), in the layout of data_type().
  absl::Span<const std::byte> bytes() const;
  absl::Span<const std::byte> row(size_t i) const;

  // Row `i` as float32, whatever its type; `values` takes dim() of them.
  void ReadFloats(size_t i, float* values) const;
  std::vector<float> Floats(size_t i) const;

 private:
  explicit TableRows(const Fields& fields) : fields_(fields) {}

  Fields fields_;
};

// The answer to a Lookup: one TableRows for each TableLookup, in order. Cheap
// to copy; copies share the reply's memory.
class LookupReply {
 public:
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
