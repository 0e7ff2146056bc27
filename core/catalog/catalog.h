// The tables of a server, by name. The set is fixed once made; finding a table
// takes no lock. Thread-safe.
#ifndef GATHERD_CORE_CATALOG_CATALOG_H_
#define GATHERD_CORE_CATALOG_CATALOG_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/catalog/source_spec.h"
#include "core/table/table.h"

namespace gatherd {

// Rows loaded so far of a table's source, for logs and metrics.
struct LoadProgress {
  std::atomic<uint64_t> rows_loaded{0};
  std::atomic<uint64_t> rows_total{0};
};

// A table and whether it may be asked yet.
class CatalogEntry {
 public:
  CatalogEntry(std::unique_ptr<Table> table, SourceSpec source)
      : table_(std::move(table)), source_(std::move(source)) {}

  Table& table() const { return *table_; }
  const SourceSpec& source() const { return source_; }
  LoadProgress& progress() { return progress_; }

  // False while its source is still being loaded.
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  void set_ready() { ready_.store(true, std::memory_order_release); }

 private:
  const std::unique_ptr<Table> table_;
  const SourceSpec source_;
  LoadProgress progress_;
  // Release/acquire: whoever sees true sees every loaded row.
  std::atomic<bool> ready_{false};
};

struct CatalogTableSpec {
  TableSpec table;
  SourceSpec source;
};

class Catalog {
 public:
  using TableFactory = std::function<absl::StatusOr<std::unique_ptr<Table>>(
      const TableSpec&)>;

  // Makes every table, in order. ALREADY_EXISTS if a name stands twice, else
  // the factory's first error.
  static absl::StatusOr<std::unique_ptr<Catalog>> Create(
      absl::Span<const CatalogTableSpec> specs, const TableFactory& factory);

  // nullptr if there is none. The entry lives as long as the catalog.
  CatalogEntry* Find(std::string_view name) const;

  // In the order of configuration.
  absl::Span<const std::unique_ptr<CatalogEntry>> entries() const {
    return entries_;
  }

 private:
  Catalog() = default;

  std::vector<std::unique_ptr<CatalogEntry>> entries_;
  absl::flat_hash_map<std::string, CatalogEntry*> by_name_;
};

// One part of an update request, in request order.
struct TableUpdateBatch {
  Table* table = nullptr;
  UpdateBatch batch;
};

// Applies all parts or, if one does not fit, none. Parts of one table take
// effect in order. One result a part.
absl::StatusOr<std::vector<UpdateResult>> UpdateTables(
    absl::Span<const TableUpdateBatch> parts);

}  // namespace gatherd

#endif  // GATHERD_CORE_CATALOG_CATALOG_H_
