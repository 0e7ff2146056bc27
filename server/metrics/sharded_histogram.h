// A histogram for hot paths, sharded over threads as ShardedCounter is.
// Values are whole numbers of a unit (nanoseconds, keys); what is exported is
// value * scale. Thread-safe.
#ifndef GATHERD_SERVER_METRICS_SHARDED_HISTOGRAM_H_
#define GATHERD_SERVER_METRICS_SHARDED_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

namespace gatherd {

struct HistogramSnapshot {
  std::vector<uint64_t> counts;  // one a bound, then those above all bounds
  uint64_t count = 0;
  double sum = 0;
};

class ShardedHistogram {
 public:
  // `bounds`: upper bounds, inclusive, ascending, in units of Observe.
  ShardedHistogram(absl::Span<const uint64_t> bounds, double scale);

  // 10 us to 10 s, exported in seconds.
  static ShardedHistogram OfDurations();
  // 1 to a million in powers of four.
  static ShardedHistogram OfCounts();

  void Observe(uint64_t value);
  // Of a histogram of durations.
  void Observe(absl::Duration duration);

  const std::vector<uint64_t>& bounds() const { return bounds_; }
  double scale() const { return scale_; }
  HistogramSnapshot Snapshot() const;
  // The value, scaled, that a share `q` of the observations does not exceed:
  // interpolated inside its bucket, the highest bound if it is above all; 0
  // without observations.
  double Quantile(const HistogramSnapshot& snapshot, double q) const;

 private:
  struct alignas(64) CacheLine {
    std::array<std::atomic<uint64_t>, 8> words{};
  };

  std::atomic<uint64_t>& Word(size_t shard, size_t index) const {
    return lines_[shard * lines_per_shard_ + index / 8].words[index % 8];
  }

  std::vector<uint64_t> bounds_;
  double scale_;
  size_t lines_per_shard_;
  // Per shard: a count a bucket, then the sum.
  std::unique_ptr<CacheLine[]> lines_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_METRICS_SHARDED_HISTOGRAM_H_
