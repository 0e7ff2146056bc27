// Everything a table of the CPU backend consists of, made and measured in one
// place: rows, index, epochs, stamps and counters. What is done with them:
// row_lookup.h, row_writer.h.
#ifndef GATHERD_CORE_TABLE_TABLE_STORAGE_H_
#define GATHERD_CORE_TABLE_TABLE_STORAGE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "core/table/epoch.h"
#include "core/table/row_arena.h"
#include "core/table/slot_index.h"
#include "core/table/slot_stamps.h"
#include "core/table/table_spec.h"

namespace gatherd {

struct TableStorage {
  // Takes all memory and writes the default row. RESOURCE_EXHAUSTED naming
  // table and bytes if the machine has not got it.
  static absl::StatusOr<std::unique_ptr<TableStorage>> Create(
      const TableSpec& spec);

  // What Create(spec) takes: rows, index and stamps. Pure.
  static uint64_t MemoryBytes(const TableSpec& spec);

  TableStorage(const TableSpec& table_spec, HostMemory arena_memory);

  uint64_t num_bytes() const;
  bool evicts() const { return stamps != nullptr; }

  const TableSpec spec;
  // Of every hash of keys: secret, or clients could choose keys that collide.
  const uint64_t seed;
  const RowArena arena;
  std::unique_ptr<SlotIndex> index;
  std::unique_ptr<SlotStamps> stamps;  // of evicting tables alone
  EpochDomain epochs;

  // Written by the table's writer, read by anyone. Relaxed: figures alone.
  std::atomic<uint64_t> num_rows{0};
  std::atomic<uint64_t> num_evictions{0};
  // Release, after the rows of the write: whoever loads (acquire) a revision
  // sees those rows.
  std::atomic<uint64_t> revision{0};
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_TABLE_STORAGE_H_
