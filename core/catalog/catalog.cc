#include "core/catalog/catalog.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gatherd {
namespace {

// One table's parts: those of `order` in [begin, end).
struct PreparedTable {
  size_t begin = 0;
  size_t end = 0;
  std::unique_ptr<PreparedUpdate> update;
};

absl::StatusOr<std::unique_ptr<PreparedUpdate>> Prepare(
    absl::Span<const TableUpdateBatch> parts, absl::Span<const size_t> order) {
  std::vector<UpdateBatch> batches;
  batches.reserve(order.size());
  for (const size_t i : order) batches.push_back(parts[i].batch);
  return parts[order.front()].table->PrepareUpdate(batches);
}

}  // namespace

absl::Status CatalogEntry::MakeTable(const TableFactory& factory) {
  absl::StatusOr<std::unique_ptr<Table>> table = factory(spec_.table);
  if (!table.ok()) return std::move(table).status();
  table_ = *std::move(table);
  published_.store(table_.get(), std::memory_order_release);
  return absl::OkStatus();
}

TableStats CatalogEntry::Stats() const {
  if (table() != nullptr) return table()->Stats();
  TableStats stats;
  for (const TierSpec& tier : spec_.table.tiers) {
    TierStats& tier_stats = stats.tiers.emplace_back();
    tier_stats.kind = tier.kind;
    tier_stats.capacity_rows = tier.rows;
  }
  return stats;
}

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Create(
    absl::Span<const CatalogTableSpec> specs) {
  std::unique_ptr<Catalog> catalog(new Catalog);
  catalog->entries_.reserve(specs.size());
  catalog->by_name_.reserve(specs.size());
  for (const CatalogTableSpec& spec : specs) {
    auto entry = std::make_unique<CatalogEntry>(spec, catalog->entries_.size());
    if (!catalog->by_name_.emplace(spec.table.name, entry.get()).second) {
      return absl::AlreadyExistsError(
          absl::StrCat("table \"", spec.table.name, "\" stands twice"));
    }
    catalog->entries_.push_back(std::move(entry));
  }
  return catalog;
}

CatalogEntry* Catalog::Find(std::string_view name) const {
  // absl::string_view is a type of its own in Debian's build.
  const auto it = by_name_.find(absl::string_view(name.data(), name.size()));
  return it == by_name_.end() ? nullptr : it->second;
}

absl::StatusOr<std::vector<UpdateResult>> UpdateTables(
    absl::Span<const TableUpdateBatch> parts) {
  // By address of the table: one order for everybody, so that no two threads
  // wait for each other's tables. Stable: parts of one table stay in order.
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [parts](size_t a, size_t b) {
    return std::less<Table*>()(parts[a].table, parts[b].table);
  });

  std::vector<PreparedTable> tables;
  for (size_t begin = 0; begin < order.size();) {
    PreparedTable table;
    table.begin = begin;
    while (begin < order.size() &&
           parts[order[begin]].table == parts[order[table.begin]].table) {
      ++begin;
    }
    table.end = begin;
    auto update = Prepare(parts, absl::MakeConstSpan(order).subspan(
                                     table.begin, table.end - table.begin));
    // Those already prepared give everything back.
    if (!update.ok()) return std::move(update).status();
    table.update = *std::move(update);
    tables.push_back(std::move(table));
  }

  std::vector<UpdateResult> results(parts.size());
  for (PreparedTable& table : tables) {
    const auto committed = table.update->Commit();
    if (!committed.ok()) return committed.status();
    for (size_t i = table.begin; i < table.end; ++i) {
      results[order[i]] = (*committed)[i - table.begin];
    }
    // The next writer of this table need not wait for the other tables.
    table.update.reset();
  }
  return results;
}

}  // namespace gatherd
