#include "core/table/cpu_table.h"

#include "absl/status/status.h"

namespace gatherd {

absl::StatusOr<std::unique_ptr<Table>> CreateCpuTable(const TableSpec& spec) {
  return absl::UnimplementedError("table '" + spec.name + "'");
}

uint64_t CpuTableMemoryBytes(const TableSpec& spec) {
  return spec.rows() * spec.row_bytes();
}

}  // namespace gatherd
