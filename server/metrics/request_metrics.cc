#include "server/metrics/request_metrics.h"

#include <string>

#include "server/metrics/families.h"

namespace gatherd {
namespace {

constexpr std::array<const char*, kNumStages> kStageNames = {
    "decode", "queue", "device", "encode"};
constexpr std::array<const char*, kNumRejections> kRejectionNames = {
    "overload", "too_large", "deadline", "draining", "unauthorized"};
// The methods whose requests have keys.
constexpr RpcMethod kKeyedMethods[] = {
    RpcMethod::kLookup, RpcMethod::kLookupStream, RpcMethod::kUpdate,
    RpcMethod::kUpdateStream, RpcMethod::kErase};

}  // namespace

std::string_view StageName(Stage stage) {
  return kStageNames[static_cast<size_t>(stage)];
}

std::string_view RejectionName(Rejection rejection) {
  return kRejectionNames[static_cast<size_t>(rejection)];
}

RequestMetrics::RequestMetrics() {
  for (size_t i = 0; i < kNumStages; ++i) {
    stages_.push_back(ShardedHistogram::OfDurations());
  }
  for (size_t i = 0; i < kNumRpcMethods; ++i) {
    keys_.push_back(ShardedHistogram::OfCounts());
  }
}

void RequestMetrics::Collect(
    std::vector<prometheus::MetricFamily>& families) const {
  auto stages =
      HistogramFamily("gatherd_stage_duration_seconds",
                      "Time that requests spent in each stage of their way.");
  for (size_t i = 0; i < kNumStages; ++i) {
    AddSeries(stages, {{"stage", kStageNames[i]}}, stages_[i]);
  }
  auto keys = HistogramFamily("gatherd_request_keys",
                              "Keys in one request, all tables together.");
  for (RpcMethod method : kKeyedMethods) {
    AddSeries(keys, {{"method", std::string(RpcMethodName(method))}},
              keys_[static_cast<size_t>(method)]);
  }
  auto batches = HistogramFamily("gatherd_batch_requests",
                                 "Requests served by one launch.");
  AddSeries(batches, {}, batches_);
  auto rejected = CounterFamily("gatherd_rejected_total",
                                "Requests refused without being carried out.");
  for (size_t i = 0; i < kNumRejections; ++i) {
    AddSeries(rejected, {{"reason", kRejectionNames[i]}}, rejected_[i].Value());
  }
  families.push_back(std::move(stages));
  families.push_back(std::move(keys));
  families.push_back(std::move(batches));
  families.push_back(std::move(rejected));
}

}  // namespace gatherd
