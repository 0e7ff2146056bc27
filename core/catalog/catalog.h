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

// Rows loaded so far of a table's source, for logs and metrics, and the way to
// stop loading.
struct LoadProgress {
  std::atomic<uint64_t> rows_loaded{0};
  std::atomic<uint64_t> rows_total{0};
  // Set by anyone: LoadSource ends soon with CANCELLED.
  std::atomic<bool> cancelled{false};
};

struct CatalogTableSpec {
  TableSpec table;
  SourceSpec source;
};

using TableFactory =
    std::function<absl::StatusOr<std::unique_ptr<Table>>(const TableSpec&)>;

// A table's place in the catalog. It is there before the table is: taking the
// memory of a large one lasts seconds, loading it minutes.
class CatalogEntry {
 public:
  CatalogEntry(CatalogTableSpec spec, size_t index)
      : spec_(std::move(spec)), index_(index) {}

  const TableSpec& spec() const { return spec_.table; }
  const SourceSpec& source() const { return spec_.source; }
  // Place in Catalog::entries().
  size_t index() const { return index_; }

  // nullptr until the table has been made. Never nullptr once ready().
  Table* table() const { return published_.load(std::memory_order_acquire); }

  // Makes the table, empty. Call once. The factory's error, if it fails.
  absl::Status MakeTable(const TableFactory& factory);

  // The table's, or before it is made those of its tiers, empty.
  TableStats Stats() const;

  LoadProgress& progress() { return progress_; }
  const LoadProgress& progress() const { return progress_; }

  // Whether the table may be asked: made, and its source loaded.
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  void set_ready() { ready_.store(true, std::memory_order_release); }

 private:
  const CatalogTableSpec spec_;
  const size_t index_;
  std::unique_ptr<Table> table_;
  // Release/acquire: whoever sees the pointer sees the table behind it.
  std::atomic<Table*> published_{nullptr};
  LoadProgress progress_;
  // Release/acquire: whoever sees true sees every loaded row.
  std::atomic<bool> ready_{false};
};

class Catalog {
 public:
  // An entry for each, in order, without its table. ALREADY_EXISTS if a name
  // stands twice.
  static absl::StatusOr<std::unique_ptr<Catalog>> Create(
      absl::Span<const CatalogTableSpec> specs);

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
// effect in order. One result a part. An error of a device or a store while
// they are applied ends it: some may have been applied then.
absl::StatusOr<std::vector<UpdateResult>> UpdateTables(
    absl::Span<const TableUpdateBatch> parts);

}  // namespace gatherd

#endif  // GATHERD_CORE_CATALOG_CATALOG_H_
