// Tables of the CPU backend: rows in host memory, taken whole at start.
//
// Rows are written copy-on-write: a writer fills a free slot of the table's
// RowArena and switches one atomic index word; the old slot is used again
// once every lookup that might still read it has left its epoch (EpochDomain).
// So lookups take no lock, do no retry, and never see part of a row.
#ifndef GATHERD_CORE_TABLE_CPU_TABLE_H_
#define GATHERD_CORE_TABLE_CPU_TABLE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/table/table.h"
#include "core/table/table_spec.h"

namespace gatherd {

// A table of `spec`, which ValidateTableSpec accepted. Takes all its memory:
// RESOURCE_EXHAUSTED naming table and bytes if the machine has not got it.
// `gpu` and `host` tiers both mean host memory here, and collapse into one;
// UNIMPLEMENTED for tiers that are stores.
absl::StatusOr<std::unique_ptr<Table>> CreateCpuTable(const TableSpec& spec);

// What CreateCpuTable(spec) will take: rows, index and, if it evicts, stamps. A
// hashed table of 128 rows or more stays within 1.05 times its row bytes and 32
// bytes a row. Some 10 KiB a table for bookkeeping come on top. Pure.
uint64_t CpuTableMemoryBytes(const TableSpec& spec);

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_CPU_TABLE_H_
