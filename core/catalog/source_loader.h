// Loads .npy files into a table at start.
#ifndef GATHERD_CORE_CATALOG_SOURCE_LOADER_H_
#define GATHERD_CORE_CATALOG_SOURCE_LOADER_H_

#include <cstdint>
#include <memory_resource>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/catalog/catalog.h"
#include "core/catalog/source_spec.h"
#include "core/table/table.h"

namespace gatherd {

struct LoadReport {
  uint64_t num_rows = 0;
  double seconds = 0;
  std::vector<std::string> notes;  // e.g. float64 narrowed, duplicate keys
};

struct LoadOptions {
  int num_threads = 1;
  // Of a block: large enough to make its read and its update cheap a row, and
  // small enough that those of all threads stay small and that writing one does
  // not keep other writers of the table waiting for long.
  uint64_t block_bytes = uint64_t{4} << 20;
  // Of the blocks of all threads together, of which there are fewer if need be.
  uint64_t memory_bytes = uint64_t{1} << 30;
  // Where blocks are made, one a thread. Devices that a table is on may read
  // some memory by themselves, which saves copies.
  std::pmr::memory_resource* memory = std::pmr::new_delete_resource();
};

// Threads, the calling one among them, read and convert blocks of rows, which
// are written in file order, so that of duplicate keys the last stands. On an
// error the blocks before it are in the table.
//
// INVALID_ARGUMENT naming file, offset and reason for a file that is no
// row-major little-endian .npy of a supported type and shape, that is cut
// short or changes meanwhile, or that has another dim or more rows (distinct
// keys, if hashed) than the table. CANCELLED soon after progress.cancelled has
// been set.
absl::StatusOr<LoadReport> LoadSource(const SourceSpec& source, Table& table,
                                      const LoadOptions& options,
                                      LoadProgress& progress);

}  // namespace gatherd

#endif  // GATHERD_CORE_CATALOG_SOURCE_LOADER_H_
