#include "server/metrics/sharded_histogram.h"

#include <algorithm>

#include "server/metrics/sharded_counter.h"

namespace gatherd {
namespace {

constexpr uint64_t kMicrosecond = 1'000;
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

constexpr uint64_t kDurationBounds[] = {
    10 * kMicrosecond,   25 * kMicrosecond,  50 * kMicrosecond,
    100 * kMicrosecond,  200 * kMicrosecond, 350 * kMicrosecond,
    500 * kMicrosecond,  750 * kMicrosecond, 1 * kMillisecond,
    2 * kMillisecond,    3 * kMillisecond,   5 * kMillisecond,
    7500 * kMicrosecond, 10 * kMillisecond,  25 * kMillisecond,
    50 * kMillisecond,   100 * kMillisecond, 250 * kMillisecond,
    500 * kMillisecond,  1 * kSecond,        2500 * kMillisecond,
    5 * kSecond,         10 * kSecond};

constexpr uint64_t kCountBounds[] = {1,    4,     16,    64,     256,    1024,
                                     4096, 16384, 65536, 262144, 1048576};

}  // namespace

ShardedHistogram::ShardedHistogram(absl::Span<const uint64_t> bounds,
                                   double scale)
    : bounds_(bounds.begin(), bounds.end()),
      scale_(scale),
      lines_per_shard_((bounds.size() + 2 + 7) / 8),
      lines_(
          std::make_unique<CacheLine[]>(lines_per_shard_ * kNumMetricShards)) {}

ShardedHistogram ShardedHistogram::OfDurations() {
  return ShardedHistogram(kDurationBounds, 1e-9);
}

ShardedHistogram ShardedHistogram::OfCounts() {
  return ShardedHistogram(kCountBounds, 1);
}

void ShardedHistogram::Observe(uint64_t value) {
  const size_t bucket =
      std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  const size_t shard = MetricShardOfThread();
  // Relaxed: a scrape may see the count without the sum, as with any metrics.
  Word(shard, bucket).fetch_add(1, std::memory_order_relaxed);
  Word(shard, bounds_.size() + 1).fetch_add(value, std::memory_order_relaxed);
}

void ShardedHistogram::Observe(absl::Duration duration) {
  const int64_t nanoseconds = absl::ToInt64Nanoseconds(duration);
  Observe(static_cast<uint64_t>(std::max<int64_t>(nanoseconds, 0)));
}

HistogramSnapshot ShardedHistogram::Snapshot() const {
  HistogramSnapshot snapshot;
  snapshot.counts.resize(bounds_.size() + 1);
  for (size_t shard = 0; shard < kNumMetricShards; ++shard) {
    for (size_t bucket = 0; bucket < snapshot.counts.size(); ++bucket) {
      const uint64_t count =
          Word(shard, bucket).load(std::memory_order_relaxed);
      snapshot.counts[bucket] += count;
      snapshot.count += count;
    }
    const uint64_t sum =
        Word(shard, bounds_.size() + 1).load(std::memory_order_relaxed);
    snapshot.sum += static_cast<double>(sum) * scale_;
  }
  return snapshot;
}

double ShardedHistogram::Quantile(const HistogramSnapshot& snapshot,
                                  double q) const {
  const double rank = q * static_cast<double>(snapshot.count);
  double below = 0;
  double lower = 0;
  for (size_t i = 0; i < bounds_.size() && snapshot.count > 0; ++i) {
    const double upper = static_cast<double>(bounds_[i]) * scale_;
    const auto count = static_cast<double>(snapshot.counts[i]);
    if (count > 0 && below + count >= rank) {
      return lower + (upper - lower) * (rank - below) / count;
    }
    below += count;
    lower = upper;
  }
  return lower;
}

}  // namespace gatherd
