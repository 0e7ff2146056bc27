#include "client/table_shapes.h"

namespace gatherd::client {

void TableShapes::Learn(const TableLookup& lookup, const TableRows& rows) {
  absl::MutexLock lock(&mutex_);
  auto found = shapes_.find(lookup.table);
  if (found == shapes_.end()) {
    found = shapes_.emplace(std::string(lookup.table), TableShape()).first;
  }
  found->second.dim = rows.dim();
  if (!lookup.output_type.has_value())
    found->second.data_type = rows.data_type();
}

TableShape TableShapes::Find(std::string_view table) const {
  absl::MutexLock lock(&mutex_);
  const auto found = shapes_.find(table);
  return found == shapes_.end() ? TableShape() : found->second;
}

}  // namespace gatherd::client
