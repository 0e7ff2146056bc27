#include "server/metrics/metrics.h"

#include <prometheus/text_serializer.h>

#include <vector>

#include "absl/time/time.h"
#include "cli/version.h"
#include "server/metrics/families.h"
#include "server/metrics/process_metrics.h"

namespace gatherd {
namespace {

using Families = std::vector<prometheus::MetricFamily>;

void CollectBuildInfo(const std::string& backend, Families& families) {
  auto info = GaugeFamily("gatherd_build_info",
                          "1, with what is running in the labels.");
  AddSeries(info, {{"version", kGatherdVersion}, {"backend", backend}},
            uint64_t{1});
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

// A series for each GPU; none on the CPU backend.
void CollectDevices(const std::vector<DeviceStats>& devices,
                    Families& families) {
  auto rows = CounterFamily("gatherd_device_rows_read_total",
                            "Rows read by a GPU, by where they are.");
  auto memory =
      GaugeFamily("gatherd_device_memory_bytes", "Memory of a GPU, by state.");
  for (const DeviceStats& stats : devices) {
    const std::string device = std::to_string(stats.device);
    AddSeries(rows, {{"device", device}, {"locality", "local"}},
              stats.rows_read_local);
    AddSeries(rows, {{"device", device}, {"locality", "remote"}},
              stats.rows_read_remote);
    AddSeries(memory, {{"device", device}, {"state", "used"}},
              stats.used_bytes);
    AddSeries(memory, {{"device", device}, {"state", "free"}},
              stats.free_bytes);
  }
  families.push_back(std::move(rows));
  families.push_back(std::move(memory));
}

// Without TLS no certificate has a series.
void CollectAccess(const AccessStats& access, Families& families) {
  auto expiry =
      GaugeFamily("gatherd_tls_certificate_expiry_timestamp_seconds",
                  "When the server's certificate ends, in seconds since 1970.");
  if (access.certificate_valid_until.has_value()) {
    AddSeries(expiry, {},
              absl::ToDoubleSeconds(*access.certificate_valid_until -
                                    absl::UnixEpoch()));
  }
  families.push_back(std::move(expiry));
  auto stale = GaugeFamily("gatherd_access_files_stale",
                           "1 while files are wrong and old ones in force.");
  AddSeries(stale, {{"files", "tls"}}, uint64_t{access.certificates_stale});
  AddSeries(stale, {{"files", "auth"}}, uint64_t{access.tokens_stale});
  families.push_back(std::move(stale));
}

// Families that have a series for each store: there is none here.
void CollectStores(Families& families) {
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
  CollectDevices(gauges_.devices(), families);
  CollectAccess(gauges_.access(), families);
  CollectStores(families);
  CollectProcessMetrics(families);
  const prometheus::TextSerializer serializer;
  return serializer.Serialize(families);
}

}  // namespace gatherd
