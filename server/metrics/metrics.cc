#include "server/metrics/metrics.h"

#include <prometheus/text_serializer.h>

#include <vector>

#include "server/metrics/families.h"
#include "server/metrics/process_metrics.h"
#include "server/version.h"

namespace gatherd {
namespace {

using Families = std::vector<prometheus::MetricFamily>;

void CollectBuildInfo(const std::string& backend, Families& families) {
  auto info = GaugeFamily("gatherd_build_info",
                          "1, with what is running in the labels.");
  AddSeries(info, {{"version", kVersion}, {"backend", backend}}, uint64_t{1});
  families.push_back(std::move(info));
}

void CollectGauges(const LiveGauges& gauges, Families& families) {
  const auto add = [&](const char* name, const char* help, uint64_t value) {
    auto family = GaugeFamily(name, help);
    AddSeries(family, {}, value);
    families.push_back(std::move(family));
  };
  add("gatherd_inflight_requests",
      "Requests from being read until the transport lets go of the reply.",
      gauges.inflight_requests());
  add("gatherd_inflight_bytes", "Bytes of those requests and their replies.",
      gauges.inflight_bytes());
  add("gatherd_queue_requests", "Requests that wait for their turn.",
      gauges.queue_requests());
}

// Families that have a series for each GPU or store: there is none here.
void CollectAbsentParts(Families& families) {
  families.push_back(CounterFamily("gatherd_device_rows_read_total",
                                   "Rows read by a GPU, by where they are."));
  families.push_back(
      GaugeFamily("gatherd_device_memory_bytes", "Memory of a GPU, by state."));
  families.push_back(HistogramFamily("gatherd_store_duration_seconds",
                                     "Time that operations on a store took."));
  families.push_back(CounterFamily("gatherd_store_errors_total",
                                   "Operations on a store that failed."));
}

}  // namespace

std::string Metrics::Render() const {
  Families families;
  CollectBuildInfo(backend_, families);
  rpcs_.Collect(families);
  requests_.Collect(families);
  tables_.Collect(families);
  CollectGauges(gauges_, families);
  CollectAbsentParts(families);
  CollectProcessMetrics(families);
  const prometheus::TextSerializer serializer;
  return serializer.Serialize(families);
}

}  // namespace gatherd
