#include "client/ctl/metrics_text.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;

constexpr char kText[] = R"(# HELP seconds How long it took.
# TYPE seconds histogram
seconds_count{stage="other"} 7
seconds_sum{stage="other"} 70
seconds_bucket{stage="other",le="1"} 7
seconds_bucket{stage="other",le="+Inf"} 7
seconds_count{stage="device",method="a"} 10
seconds_sum{stage="device",method="a"} 0.05
seconds_bucket{stage="device",method="a",le="0.001"} 2
seconds_bucket{stage="device",method="a",le="0.004"} 6
seconds_bucket{stage="device",method="a",le="0.008"} 9
seconds_bucket{stage="device",method="a",le="+Inf"} 10
seconds_more_count{stage="device"} 99
no_labels 5
)";

HistogramSeries Device() {
  const auto series = FindHistogram(kText, "seconds", {"stage=\"device\""});
  REQUIRE(series.ok());
  return *series;
}

}  // namespace

TEST_CASE("A histogram is found by its labels") {
  const HistogramSeries device = Device();
  CHECK(device.count == 10);
  CHECK(device.sum == 0.05);
  CHECK(device.Mean() == Approx(0.005));
  REQUIRE(device.buckets.size() == 4);
  CHECK(device.buckets[1].bound == 0.004);
  CHECK(device.buckets[1].count == 6);
  CHECK(std::isinf(device.buckets[3].bound));

  CHECK(FindHistogram(kText, "seconds", {"method=\"a\"", "stage=\"device\""})
            .ok());
  for (const char* absent :
       {"stage=\"queue\"", "stage=\"devic\"", "le=\"1\"x"}) {
    CHECK(absl::IsNotFound(FindHistogram(kText, "seconds", {absent}).status()));
  }
  CHECK(absl::IsNotFound(FindHistogram(kText, "second", {}).status()));
  CHECK(absl::IsNotFound(FindHistogram("", "seconds", {}).status()));
}

// By hand, as histogram_quantile of Prometheus has it.
TEST_CASE("Quantiles are interpolated within a bucket") {
  const HistogramSeries device = Device();
  CHECK(device.Quantile(0.1) == Approx(0.0005));  // half way to 0.001
  CHECK(device.Quantile(0.2) == Approx(0.001));
  CHECK(device.Quantile(0.5) == Approx(0.00325));  // 3 of 4 in (1, 4] ms
  CHECK(device.Quantile(0.9) == Approx(0.008));
  CHECK(device.Quantile(0.99) == Approx(0.008));  // above every bound
  CHECK(HistogramSeries().Quantile(0.5) == 0);
  CHECK(HistogramSeries().Mean() == 0);
}

TEST_CASE("What there was earlier is taken away") {
  const HistogramSeries earlier = Device();
  HistogramSeries series = earlier;
  for (size_t i = 1; i < 4; ++i) series.buckets[i].count += 4;
  series.count += 4;
  series.sum += 0.012;
  REQUIRE(series.Subtract(earlier).ok());
  CHECK(series.count == 4);
  CHECK(series.Mean() == Approx(0.003));
  CHECK(series.Quantile(0.5) == Approx(0.0025));  // all in (1, 4] ms
  // A server that has been started again has counted less, or otherwise.
  CHECK_THAT(std::string(series.Subtract(earlier).message()),
             Contains("started anew"));
  CHECK_FALSE(series.Subtract(HistogramSeries()).ok());
}

TEST_CASE("Lines that are no histogram are an error") {
  const std::string good = R"(x_bucket{a="b",le="1"} 3
x_bucket{a="b",le="+Inf"} 4
x_count{a="b"} 4
)";
  CHECK(FindHistogram(good, "x", {}).ok());
  for (const char* more : {"x_bucket{a=\"b\",le=\"2\"} 4\n",
                           "x_bucket{a=\"b\"} 1\n", "x_count{a=\"b\"} 5\n"}) {
    INFO(more);
    CHECK(absl::IsInternal(FindHistogram(good + more, "x", {}).status()));
  }
  CHECK(absl::IsInternal(
      FindHistogram("x_count{a=\"b\"} 4\n", "x", {}).status()));
  CHECK(absl::IsNotFound(FindHistogram("x_count{a} many\n", "x", {}).status()));
}

}  // namespace gatherd::client
