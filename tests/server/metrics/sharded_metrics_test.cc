#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "server/metrics/sharded_counter.h"
#include "server/metrics/sharded_histogram.h"

namespace gatherd {
namespace {

TEST_CASE("counts of many threads add up") {
  ShardedCounter counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) counter.Add(2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(counter.Value() == 40'000);
}

TEST_CASE("a bound belongs to its bucket") {
  const uint64_t bounds[] = {10, 20};
  ShardedHistogram histogram(bounds, 0.5);
  for (uint64_t value : {0, 10, 11, 20, 21}) histogram.Observe(value);
  const HistogramSnapshot snapshot = histogram.Snapshot();
  CHECK(snapshot.counts == std::vector<uint64_t>{2, 2, 1});
  CHECK(snapshot.count == 5);
  CHECK(snapshot.sum == 31);
}

TEST_CASE("quantiles are interpolated inside their bucket") {
  const uint64_t bounds[] = {10, 20, 40};
  ShardedHistogram histogram(bounds, 0.5);
  CHECK(histogram.Quantile(histogram.Snapshot(), 0.5) == 0);
  for (int i = 0; i < 10; ++i) histogram.Observe(uint64_t{15});
  CHECK(histogram.Quantile(histogram.Snapshot(), 0.5) == Approx(7.5));
  CHECK(histogram.Quantile(histogram.Snapshot(), 1) == Approx(10));
  for (int i = 0; i < 10; ++i) histogram.Observe(uint64_t{1000});
  CHECK(histogram.Quantile(histogram.Snapshot(), 0.5) == Approx(10));
  CHECK(histogram.Quantile(histogram.Snapshot(), 0.99) == Approx(20));
}

TEST_CASE("durations are exported in seconds, none below zero") {
  ShardedHistogram histogram = ShardedHistogram::OfDurations();
  histogram.Observe(absl::Milliseconds(1500));
  histogram.Observe(-absl::Seconds(1));
  CHECK(histogram.Snapshot().sum == Approx(1.5));
  CHECK(histogram.Snapshot().counts.front() == 1);
}

}  // namespace
}  // namespace gatherd
