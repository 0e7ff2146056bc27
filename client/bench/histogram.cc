#include "client/bench/histogram.h"

#include <algorithm>
#include <cmath>

namespace gatherd::client {

// Values below 2 * kSubBuckets have a bucket each; above, a value's highest
// kSubBucketBits + 1 bits and its magnitude name the bucket.
size_t Histogram::BucketOf(uint64_t value) {
  if (value < 2 * kSubBuckets) return static_cast<size_t>(value);
  const int magnitude = 63 - __builtin_clzll(value) - kSubBucketBits;
  return static_cast<size_t>(magnitude) * kSubBuckets +
         static_cast<size_t>(value >> magnitude);
}

uint64_t Histogram::EndOf(size_t bucket) {
  if (bucket < 2 * kSubBuckets) return bucket;
  const size_t magnitude = bucket / kSubBuckets - 1;
  const uint64_t top = bucket % kSubBuckets + kSubBuckets;
  return (top << magnitude) + ((uint64_t{1} << magnitude) - 1);
}

void Histogram::Add(uint64_t value) {
  counts_[BucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
  RaiseMax(value);
}

void Histogram::AddAll(const Histogram& other) {
  for (size_t bucket = 0; bucket < kNumBuckets; ++bucket) {
    counts_[bucket].fetch_add(
        other.counts_[bucket].load(std::memory_order_relaxed),
        std::memory_order_relaxed);
  }
  sum_.fetch_add(other.sum_.load(std::memory_order_relaxed),
                 std::memory_order_relaxed);
  RaiseMax(other.max());
}

void Histogram::RaiseMax(uint64_t value) {
  uint64_t seen = max_.load(std::memory_order_relaxed);
  while (value > seen &&
         !max_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

uint64_t Histogram::count() const {
  uint64_t count = 0;
  for (const auto& bucket : counts_) {
    count += bucket.load(std::memory_order_relaxed);
  }
  return count;
}

double Histogram::Mean() const {
  const uint64_t num = count();
  if (num == 0) return 0;
  return static_cast<double>(sum_.load(std::memory_order_relaxed)) /
         static_cast<double>(num);
}

uint64_t Histogram::Percentile(double quantile) const {
  const uint64_t num = count();
  if (num == 0) return 0;
  const auto rank = std::max<uint64_t>(
      1, static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(num))));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < kNumBuckets; ++bucket) {
    seen += counts_[bucket].load(std::memory_order_relaxed);
    if (seen >= rank) return std::min(EndOf(bucket), max());
  }
  return max();
}

}  // namespace gatherd::client
