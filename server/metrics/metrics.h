// Everything that /metrics says. Thread-safe.
#ifndef GATHERD_SERVER_METRICS_METRICS_H_
#define GATHERD_SERVER_METRICS_METRICS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/catalog/catalog.h"
#include "core/exec/device_stats.h"
#include "server/access/access_stats.h"
#include "server/metrics/request_metrics.h"
#include "server/metrics/rpc_metrics.h"
#include "server/metrics/table_metrics.h"

namespace gatherd {

// What is read from elsewhere at each scrape, from any thread.
struct LiveGauges {
  std::function<uint64_t()> inflight_requests;
  std::function<uint64_t()> inflight_bytes;
  std::function<uint64_t()> queue_requests;
  std::function<std::vector<DeviceStats>()> devices;
  std::function<AccessStats()> access;
};

class Metrics {
 public:
  // The catalog, and what the gauges read, outlive this.
  Metrics(const Catalog& catalog, std::string backend, LiveGauges gauges)
      : tables_(catalog),
        backend_(std::move(backend)),
        gauges_(std::move(gauges)) {}

  RpcMetrics& rpcs() { return rpcs_; }
  RequestMetrics& requests() { return requests_; }
  TableMetrics& tables() { return tables_; }
  const RpcMetrics& rpcs() const { return rpcs_; }
  const RequestMetrics& requests() const { return requests_; }

  // Of each device, as at this moment; none on the CPU backend.
  std::vector<DeviceStats> Devices() const { return gauges_.devices(); }

  // All series in Prometheus's text format, version 0.0.4.
  std::string Render() const;

 private:
  RpcMetrics rpcs_;
  RequestMetrics requests_;
  TableMetrics tables_;
  const std::string backend_;
  const LiveGauges gauges_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_METRICS_METRICS_H_
