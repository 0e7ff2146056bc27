#include "server/metrics/families.h"

#include <limits>
#include <string>

namespace gatherd {
namespace {

prometheus::MetricFamily Family(std::string_view name, std::string_view help,
                                prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = std::string(name);
  family.help = std::string(help);
  family.type = type;
  return family;
}

}  // namespace

prometheus::MetricFamily CounterFamily(std::string_view name,
                                       std::string_view help) {
  return Family(name, help, prometheus::MetricType::Counter);
}

prometheus::MetricFamily GaugeFamily(std::string_view name,
                                     std::string_view help) {
  return Family(name, help, prometheus::MetricType::Gauge);
}

prometheus::MetricFamily HistogramFamily(std::string_view name,
                                         std::string_view help) {
  return Family(name, help, prometheus::MetricType::Histogram);
}

void AddSeries(prometheus::MetricFamily& family, MetricLabels labels,
               double value) {
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  if (family.type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
}

void AddSeries(prometheus::MetricFamily& family, MetricLabels labels,
               uint64_t value) {
  AddSeries(family, std::move(labels), static_cast<double>(value));
}

void AddSeries(prometheus::MetricFamily& family, MetricLabels labels,
               const ShardedHistogram& histogram) {
  const HistogramSnapshot snapshot = histogram.Snapshot();
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  metric.histogram.sample_count = snapshot.count;
  metric.histogram.sample_sum = snapshot.sum;
  uint64_t cumulative = 0;
  for (size_t i = 0; i < snapshot.counts.size(); ++i) {
    cumulative += snapshot.counts[i];
    const double bound =
        i < histogram.bounds().size()
            ? static_cast<double>(histogram.bounds()[i]) * histogram.scale()
            : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({cumulative, bound});
  }
}

}  // namespace gatherd
