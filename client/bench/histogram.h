// Latencies, counted in buckets that are 1/128 of their value wide: a
// percentile is at most 0.8 % too high, whatever the range. (The layout is that
// of HdrHistogram.)
#ifndef GATHERD_CLIENT_BENCH_HISTOGRAM_H_
#define GATHERD_CLIENT_BENCH_HISTOGRAM_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gatherd::client {

// Thread-safe. Every count is a relaxed atomic: nothing is ordered by them,
// and whoever reads has joined those who count.
class Histogram {
 public:
  void Add(uint64_t value);
  // All values of another one, which nobody adds to meanwhile.
  void AddAll(const Histogram& other);

  uint64_t count() const;
  uint64_t max() const { return max_.load(std::memory_order_relaxed); }
  double Mean() const;

  // The smallest counted value, rounded up to its bucket's end, that at least
  // the fraction `quantile` in [0, 1] of all values does not exceed; 0 if
  // nothing was counted.
  uint64_t Percentile(double quantile) const;

 private:
  static constexpr int kSubBucketBits = 7;
  static constexpr size_t kSubBuckets = size_t{1} << kSubBucketBits;
  static constexpr size_t kNumBuckets = (64 - kSubBucketBits + 1) * kSubBuckets;

  static size_t BucketOf(uint64_t value);
  static uint64_t EndOf(size_t bucket);
  void RaiseMax(uint64_t value);

  std::array<std::atomic<uint64_t>, kNumBuckets> counts_ = {};
  std::atomic<uint64_t> max_{0};
  std::atomic<uint64_t> sum_{0};
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_HISTOGRAM_H_
