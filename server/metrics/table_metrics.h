// What happened to each table, and what it holds. Collecting reads
// Table::Stats, so a scrape waits for no lookup and no write. Thread-safe.
#ifndef GATHERD_SERVER_METRICS_TABLE_METRICS_H_
#define GATHERD_SERVER_METRICS_TABLE_METRICS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/catalog/catalog.h"
#include "core/table/batch.h"
#include "server/metrics/sharded_counter.h"

namespace prometheus {
struct MetricFamily;
}

namespace gatherd {

// Keys since the start.
struct TableKeyCounts {
  struct Tier {
    uint64_t hits = 0, misses = 0;
  };

  uint64_t found = 0, missing = 0;                  // looked up
  uint64_t updated = 0, inserted = 0, skipped = 0;  // written, distinct
  uint64_t erased = 0;
  std::array<Tier, kMaxTiers> tiers;
};

class TableMetrics {
 public:
  // The catalog outlives this.
  explicit TableMetrics(const Catalog& catalog);

  void LookedUp(const CatalogEntry& entry, uint64_t num_keys,
                const LookupResult& result);
  void Updated(const CatalogEntry& entry, const UpdateResult& result);
  void Erased(const CatalogEntry& entry, const EraseResult& result);

  TableKeyCounts Counts(const CatalogEntry& entry) const;

  void Collect(std::vector<prometheus::MetricFamily>& families) const;

 private:
  struct Counters {
    ShardedCounter found, missing;
    ShardedCounter updated, inserted, skipped;
    ShardedCounter erased;
    std::array<ShardedCounter, kMaxTiers> tier_hits, tier_misses;
  };

  void CollectKeyCounts(std::vector<prometheus::MetricFamily>& families) const;
  void CollectTables(std::vector<prometheus::MetricFamily>& families) const;
  void CollectTiers(std::vector<prometheus::MetricFamily>& families) const;

  const Catalog& catalog_;
  std::vector<Counters> counters_;  // by CatalogEntry::index()
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_METRICS_TABLE_METRICS_H_
