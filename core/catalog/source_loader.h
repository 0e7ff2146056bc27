// Loads .npy files into a table at start.
#ifndef GATHERD_CORE_CATALOG_SOURCE_LOADER_H_
#define GATHERD_CORE_CATALOG_SOURCE_LOADER_H_

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

// `num_threads` threads, the calling one among them, read and convert blocks of
// rows, which are written in file order, so that of duplicate keys the last
// stands. On an error the blocks before it are in the table.
//
// INVALID_ARGUMENT naming file, offset and reason for a file that is no
// row-major little-endian .npy of a supported type and shape, that is cut
// short or changes meanwhile, or that has another dim or more rows (distinct
// keys, if hashed) than the table. CANCELLED soon after progress.cancelled has
// been set.
absl::StatusOr<LoadReport> LoadSource(const SourceSpec& source, Table& table,
                                      int num_threads, LoadProgress& progress);

}  // namespace gatherd

#endif  // GATHERD_CORE_CATALOG_SOURCE_LOADER_H_
