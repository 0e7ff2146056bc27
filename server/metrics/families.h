// Puts our counts into prometheus-cpp's plain structs, which its serialiser
// writes out. For the .cc files of collectors alone.
#ifndef GATHERD_SERVER_METRICS_FAMILIES_H_
#define GATHERD_SERVER_METRICS_FAMILIES_H_

#include <prometheus/metric_family.h>

#include <string_view>
#include <utility>
#include <vector>

#include "server/metrics/sharded_histogram.h"

namespace gatherd {

using MetricLabels = std::vector<prometheus::ClientMetric::Label>;

prometheus::MetricFamily CounterFamily(std::string_view name,
                                       std::string_view help);
prometheus::MetricFamily GaugeFamily(std::string_view name,
                                     std::string_view help);
prometheus::MetricFamily HistogramFamily(std::string_view name,
                                         std::string_view help);

// Adds a series to a family of counters or gauges.
void AddSeries(prometheus::MetricFamily& family, MetricLabels labels,
               double value);
void AddSeries(prometheus::MetricFamily& family, MetricLabels labels,
               uint64_t value);
// Adds a series to a family of histograms.
void AddSeries(prometheus::MetricFamily& family, MetricLabels labels,
               const ShardedHistogram& histogram);

}  // namespace gatherd

#endif  // GATHERD_SERVER_METRICS_FAMILIES_H_
