#include "server/status_page/status_document.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/time/clock.h"
#include "cli/version.h"
#include "server/recent_refusals.h"

namespace gatherd {
namespace {

using Json = nlohmann::ordered_json;

Json MethodOf(const Metrics& metrics, RpcMethod method) {
  const RpcMetrics& rpcs = metrics.rpcs();
  uint64_t num_failed = 0;
  for (size_t code = 1; code < kNumRpcCodes; ++code) {
    num_failed += rpcs.num_handled(method, static_cast<absl::StatusCode>(code));
  }
  const HistogramSnapshot keys = metrics.requests().request_keys(method);
  const ShardedHistogram& seconds = rpcs.seconds(method);
  const HistogramSnapshot durations = seconds.Snapshot();
  const bool has_keys =
      method != RpcMethod::kListTables && method != RpcMethod::kGetServerInfo;
  const auto quantile = [&](double q) {
    return durations.count == 0 ? Json() : Json(seconds.Quantile(durations, q));
  };
  return {{"name", std::string(RpcMethodName(method))},
          {"started", rpcs.num_started(method)},
          {"ok", rpcs.num_handled(method, absl::StatusCode::kOk)},
          {"failed", num_failed},
          {"requests", has_keys ? Json(keys.count) : Json()},
          {"keys", has_keys ? Json(keys.sum) : Json()},
          {"p50_seconds", quantile(0.5)},
          {"p99_seconds", quantile(0.99)}};
}

// Of unary lookups: a stream's duration says nothing of its lookups.
Json LookupSeconds(const RpcMetrics& rpcs) {
  const ShardedHistogram& histogram = rpcs.seconds(RpcMethod::kLookup);
  Json bounds = Json::array();
  for (const uint64_t bound : histogram.bounds()) {
    bounds.push_back(static_cast<double>(bound) * histogram.scale());
  }
  return {{"bounds", std::move(bounds)},
          {"counts", histogram.Snapshot().counts}};
}

Json StageOf(const RequestMetrics& requests, Stage stage) {
  const HistogramSnapshot seconds = requests.stage(stage);
  return {{"name", std::string(StageName(stage))},
          {"count", seconds.count},
          {"seconds", seconds.sum},
          {"mean_seconds",
           seconds.count == 0
               ? Json()
               : Json(seconds.sum / static_cast<double>(seconds.count))}};
}

Json TableOf(const CatalogEntry& entry, const TableStats& stats,
             const TableKeyCounts& counts) {
  const TableSpec& spec = entry.spec();
  uint64_t memory_bytes = 0;
  for (const TierStats& tier : stats.tiers) memory_bytes += tier.memory_bytes;
  return {{"name", spec.name},
          {"state", entry.ready() ? "ready" : "loading"},
          {"loaded_rows", entry.progress().rows_loaded.load()},
          {"key_space", std::string(KeySpaceName(spec.key_space))},
          {"data_type", std::string(DataTypeName(spec.data_type))},
          {"dim", spec.dim},
          {"rows", stats.num_rows},
          {"memory_bytes", memory_bytes},
          {"revision", stats.revision},
          {"found", counts.found},
          {"missing", counts.missing},
          {"updated", counts.updated},
          {"inserted", counts.inserted},
          {"skipped", counts.skipped},
          {"erased", counts.erased}};
}

Json TierOf(const CatalogEntry& entry, const TierStats& tier,
            const TableKeyCounts::Tier& keys,
            const std::vector<DeviceStats>& devices) {
  const uint64_t asked = keys.hits + keys.misses;
  Json rows_per_device = Json::array();
  for (size_t i = 0; i < tier.rows_per_device.size(); ++i) {
    const int device =
        i < devices.size() ? devices[i].device : static_cast<int>(i);
    rows_per_device.push_back(
        {{"device", device}, {"rows", tier.rows_per_device[i]}});
  }
  return {{"table", entry.spec().name},
          {"tier", std::string(TierKindName(tier.kind))},
          {"rows", tier.num_rows},
          {"capacity_rows",
           tier.capacity_rows == 0 ? Json() : Json(tier.capacity_rows)},
          {"memory_bytes", tier.memory_bytes},
          {"hits", keys.hits},
          {"misses", keys.misses},
          {"hit_rate", asked == 0 ? Json()
                                  : Json(static_cast<double>(keys.hits) /
                                         static_cast<double>(asked))},
          {"evictions", tier.num_evictions},
          {"rows_per_device", std::move(rows_per_device)}};
}

Json DeviceOf(const DeviceStats& stats, const std::string& description) {
  return {{"device", stats.device},
          {"description", description},
          {"used_bytes", stats.used_bytes},
          {"free_bytes", stats.free_bytes},
          {"rows_read_local", stats.rows_read_local},
          {"rows_read_remote", stats.rows_read_remote}};
}

Json LinkOf(const DeviceLink& link) {
  return {{"from", link.from},
          {"to", link.to},
          {"peer_access", link.peer_access},
          {"native_atomics", link.native_atomics},
          {"verified", link.problem.empty()},
          {"problem", link.problem.empty() ? Json() : Json(link.problem)}};
}

void AddTables(const ServingContext& context,
               const std::vector<DeviceStats>& devices, Json& status) {
  status["tables"] = Json::array();
  status["tiers"] = Json::array();
  for (const auto& entry : context.catalog.entries()) {
    const TableStats stats = entry->Stats();
    const TableKeyCounts counts = context.metrics.tables().Counts(*entry);
    status["tables"].push_back(TableOf(*entry, stats, counts));
    for (size_t i = 0; i < stats.tiers.size(); ++i) {
      status["tiers"].push_back(
          TierOf(*entry, stats.tiers[i], counts.tiers[i], devices));
    }
  }
}

void AddRequests(const Metrics& metrics, Json& status) {
  status["methods"] = Json::array();
  for (size_t i = 0; i < kNumRpcMethods; ++i) {
    status["methods"].push_back(MethodOf(metrics, static_cast<RpcMethod>(i)));
  }
  status["lookup_seconds"] = LookupSeconds(metrics.rpcs());
  status["stages"] = Json::array();
  for (size_t i = 0; i < kNumStages; ++i) {
    status["stages"].push_back(
        StageOf(metrics.requests(), static_cast<Stage>(i)));
  }
  status["refusals"] = Json::array();
  for (size_t i = 0; i < kNumRejections; ++i) {
    const auto reason = static_cast<Rejection>(i);
    status["refusals"].push_back(
        {{"reason", std::string(RejectionName(reason))},
         {"total", metrics.requests().num_rejected(reason)}});
  }
}

void AddRecentRefusals(const RecentRefusals& refusals, Json& status) {
  status["recent_refusals"] = Json::array();
  for (const Refusal& refusal : refusals.List()) {
    status["recent_refusals"].push_back(
        {{"time_us", absl::ToUnixMicros(refusal.time())},
         {"method", std::string(RpcMethodName(refusal.method()))},
         {"code", absl::StatusCodeToString(refusal.code())},
         {"text", std::string(refusal.text())}});
  }
  status["recent_refusals_left_out"] = refusals.num_left_out();
}

}  // namespace

Json CollectStatus(const ServingContext& context,
                   const ServerIdentity& identity) {
  Json status = {
      {"version", kGatherdVersion},
      {"backend", identity.backend},
      {"phase", ServingPhaseName(context.state.phase())},
      {"address", identity.address()},
      {"start_time_us", absl::ToUnixMicros(identity.start_time)},
      {"uptime_seconds",
       absl::ToDoubleSeconds(absl::Now() - identity.start_time)},
      {"inflight_requests", context.admission.num_requests()},
      {"inflight_bytes", context.admission.num_bytes()},
      {"queue_requests", context.dispatcher.num_queued()},
  };
  const std::vector<DeviceStats> devices = context.metrics.Devices();
  AddTables(context, devices, status);
  AddRequests(context.metrics, status);
  AddRecentRefusals(context.refusals, status);
  status["devices"] = Json::array();
  for (size_t i = 0; i < devices.size(); ++i) {
    status["devices"].push_back(DeviceOf(devices[i], i < identity.devices.size()
                                                         ? identity.devices[i]
                                                         : std::string()));
  }
  status["links"] = Json::array();
  for (const DeviceLink& link : identity.links) {
    status["links"].push_back(LinkOf(link));
  }
  return status;
}

}  // namespace gatherd
