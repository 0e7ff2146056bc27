#include "client/bench/histogram.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace gatherd::client {

TEST_CASE("An empty histogram is all zeros") {
  const auto histogram = std::make_unique<Histogram>();
  CHECK(histogram->count() == 0);
  CHECK(histogram->max() == 0);
  CHECK(histogram->Mean() == 0);
  CHECK(histogram->Percentile(0.5) == 0);
}

TEST_CASE("Small values are exact") {
  const auto histogram = std::make_unique<Histogram>();
  for (uint64_t value = 1; value <= 100; ++value) histogram->Add(value);
  CHECK(histogram->count() == 100);
  CHECK(histogram->Mean() == 50.5);
  CHECK(histogram->Percentile(0) == 1);
  CHECK(histogram->Percentile(0.5) == 50);
  CHECK(histogram->Percentile(0.99) == 99);
  CHECK(histogram->Percentile(0.999) == 100);
  CHECK(histogram->Percentile(1) == 100);
}

TEST_CASE("Percentiles are the exact ones, at most 0.8 % too high") {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> latency(12, 2);
  const auto histogram = std::make_unique<Histogram>();
  std::vector<uint64_t> exact;
  for (int i = 0; i < 100'000; ++i) {
    exact.push_back(static_cast<uint64_t>(latency(random)));
    histogram->Add(exact.back());
  }
  std::sort(exact.begin(), exact.end());
  for (const double quantile : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999}) {
    const auto rank = static_cast<size_t>(
        std::ceil(quantile * static_cast<double>(exact.size())));
    const uint64_t right = exact[rank - 1];
    const uint64_t found = histogram->Percentile(quantile);
    INFO(quantile << ": " << right << ", found " << found);
    CHECK(found >= right);
    CHECK(static_cast<double>(found) <= static_cast<double>(right) * 1.008);
  }
  CHECK(histogram->Percentile(1) == exact.back());
  CHECK(histogram->max() == exact.back());
}

TEST_CASE("Any 64-bit value can be counted") {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  for (int bits = 0; bits < 64; ++bits) {
    for (const uint64_t value : {(uint64_t{1} << bits) - 1, uint64_t{1} << bits,
                                 (uint64_t{1} << bits) + 1}) {
      const auto histogram = std::make_unique<Histogram>();
      histogram->Add(value);
      histogram->Add(kMax);
      CHECK(histogram->Percentile(0.5) >= value);
      CHECK(static_cast<double>(histogram->Percentile(0.5)) <=
            static_cast<double>(value) * 1.008);
      CHECK(histogram->Percentile(1) == kMax);
    }
  }
}

TEST_CASE("Threads count together") {
  const auto histogram = std::make_unique<Histogram>();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&histogram] {
      for (uint64_t i = 1; i <= 10'000; ++i) histogram->Add(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(histogram->count() == 40'000);
  CHECK(histogram->max() == 10'000);
  CHECK(histogram->Mean() == 5000.5);
}

TEST_CASE("A sum of histograms is that of all values") {
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> fast(8, 1);
  std::lognormal_distribution<double> slow(14, 2);
  const auto all = std::make_unique<Histogram>();
  const auto sum = std::make_unique<Histogram>();
  for (auto* latency : {&fast, &slow}) {
    const auto part = std::make_unique<Histogram>();
    for (int i = 0; i < 10'000; ++i) {
      const auto value = static_cast<uint64_t>((*latency)(random));
      part->Add(value);
      all->Add(value);
    }
    sum->AddAll(*part);
  }
  sum->AddAll(*std::make_unique<Histogram>());
  CHECK(sum->count() == 20'000);
  CHECK(sum->max() == all->max());
  CHECK(sum->Mean() == all->Mean());
  for (const double quantile : {0.0, 0.1, 0.5, 0.7, 0.99, 0.999, 1.0}) {
    CHECK(sum->Percentile(quantile) == all->Percentile(quantile));
  }
}

}  // namespace gatherd::client
