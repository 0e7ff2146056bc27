#include "server/metrics/table_metrics.h"

#include <string>

#include "server/metrics/families.h"

namespace gatherd {
namespace {

using Families = std::vector<prometheus::MetricFamily>;

}  // namespace

TableMetrics::TableMetrics(const Catalog& catalog)
    : catalog_(catalog), counters_(catalog.entries().size()) {}

void TableMetrics::LookedUp(const CatalogEntry& entry, uint64_t num_keys,
                            const LookupResult& result) {
  Counters& counters = counters_[entry.index()];
  counters.found.Add(num_keys - result.num_missing);
  counters.missing.Add(result.num_missing);
  // A tier was asked for every key that no tier above it had.
  uint64_t asked = num_keys;
  for (size_t tier = 0; tier < entry.spec().tiers.size(); ++tier) {
    const uint64_t hits = result.tier_hits[tier];
    counters.tier_hits[tier].Add(hits);
    counters.tier_misses[tier].Add(asked - hits);
    asked -= hits;
  }
}

void TableMetrics::Updated(const CatalogEntry& entry,
                           const UpdateResult& result) {
  Counters& counters = counters_[entry.index()];
  counters.updated.Add(result.num_updated);
  counters.inserted.Add(result.num_inserted);
  counters.skipped.Add(result.num_skipped);
}

void TableMetrics::Erased(const CatalogEntry& entry,
                          const EraseResult& result) {
  counters_[entry.index()].erased.Add(result.num_erased);
}

TableKeyCounts TableMetrics::Counts(const CatalogEntry& entry) const {
  const Counters& counters = counters_[entry.index()];
  TableKeyCounts counts;
  counts.found = counters.found.Value();
  counts.missing = counters.missing.Value();
  counts.updated = counters.updated.Value();
  counts.inserted = counters.inserted.Value();
  counts.skipped = counters.skipped.Value();
  counts.erased = counters.erased.Value();
  for (size_t i = 0; i < kMaxTiers; ++i) {
    counts.tiers[i] = {counters.tier_hits[i].Value(),
                       counters.tier_misses[i].Value()};
  }
  return counts;
}

void TableMetrics::Collect(Families& families) const {
  CollectKeyCounts(families);
  CollectTables(families);
  CollectTiers(families);
}

void TableMetrics::CollectKeyCounts(Families& families) const {
  auto lookups =
      CounterFamily("gatherd_lookup_keys_total", "Keys looked up, by outcome.");
  auto updates = CounterFamily("gatherd_update_keys_total",
                               "Distinct keys of updates, by outcome.");
  auto erases = CounterFamily("gatherd_erase_keys_total", "Keys erased.");
  for (const auto& entry : catalog_.entries()) {
    const Counters& counters = counters_[entry->index()];
    const auto add = [&](prometheus::MetricFamily& family, const char* outcome,
                         const ShardedCounter& counter) {
      AddSeries(family, {{"table", entry->spec().name}, {"outcome", outcome}},
                counter.Value());
    };
    add(lookups, "found", counters.found);
    add(lookups, "missing", counters.missing);
    add(updates, "updated", counters.updated);
    add(updates, "inserted", counters.inserted);
    add(updates, "skipped", counters.skipped);
    AddSeries(erases, {{"table", entry->spec().name}}, counters.erased.Value());
  }
  families.push_back(std::move(lookups));
  families.push_back(std::move(updates));
  families.push_back(std::move(erases));
}

void TableMetrics::CollectTables(Families& families) const {
  auto ready = GaugeFamily("gatherd_table_ready",
                           "1 once the table is loaded and answers.");
  auto loaded = GaugeFamily("gatherd_table_source_loaded_rows",
                            "Rows of the table's source loaded so far.");
  auto expected =
      GaugeFamily("gatherd_table_source_rows", "Rows of the table's source.");
  for (const auto& entry : catalog_.entries()) {
    const MetricLabels labels = {{"table", entry->spec().name}};
    const LoadProgress& progress = entry->progress();
    AddSeries(ready, labels, uint64_t{entry->ready()});
    AddSeries(loaded, labels, progress.rows_loaded.load());
    AddSeries(expected, labels, progress.rows_total.load());
  }
  families.push_back(std::move(ready));
  families.push_back(std::move(loaded));
  families.push_back(std::move(expected));
}

void TableMetrics::CollectTiers(Families& families) const {
  auto table_rows =
      GaugeFamily("gatherd_table_rows", "Rows that the table holds.");
  auto revision = GaugeFamily("gatherd_table_revision",
                              "Writes to the table that were acknowledged.");
  auto rows = GaugeFamily("gatherd_tier_rows", "Rows present in the tier.");
  auto capacity = GaugeFamily("gatherd_tier_capacity_rows",
                              "Rows the tier has room for; 0: unbounded.");
  auto memory = GaugeFamily("gatherd_tier_memory_bytes",
                            "Memory of the tier, rows and index together.");
  auto keys = CounterFamily("gatherd_tier_keys_total",
                            "Keys looked for in the tier, by outcome.");
  auto evictions = CounterFamily("gatherd_tier_evictions_total",
                                 "Rows that had to leave the tier.");
  for (const auto& entry : catalog_.entries()) {
    const Counters& counters = counters_[entry->index()];
    const TableStats stats = entry->Stats();
    const std::string& table = entry->spec().name;
    AddSeries(table_rows, {{"table", table}}, stats.num_rows);
    AddSeries(revision, {{"table", table}}, stats.revision);
    for (size_t i = 0; i < stats.tiers.size(); ++i) {
      const TierStats& tier = stats.tiers[i];
      const MetricLabels labels = {
          {"table", table}, {"tier", std::string(TierKindName(tier.kind))}};
      AddSeries(rows, labels, tier.num_rows);
      AddSeries(capacity, labels, tier.capacity_rows);
      AddSeries(memory, labels, tier.memory_bytes);
      AddSeries(evictions, labels, tier.num_evictions);
      MetricLabels with_outcome = labels;
      with_outcome.push_back({"outcome", "hit"});
      AddSeries(keys, with_outcome, counters.tier_hits[i].Value());
      with_outcome.back().value = "miss";
      AddSeries(keys, with_outcome, counters.tier_misses[i].Value());
    }
  }
  for (auto* family :
       {&table_rows, &revision, &rows, &capacity, &memory, &keys, &evictions}) {
    families.push_back(std::move(*family));
  }
}

}  // namespace gatherd
