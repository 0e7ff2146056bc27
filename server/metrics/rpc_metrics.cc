#include "server/metrics/rpc_metrics.h"

#include <string>

#include "server/metrics/families.h"

namespace gatherd {
namespace {

struct MethodInfo {
  std::string_view type;
  std::string_view service;
  std::string_view method;
};

constexpr std::string_view kEmbeddingService = "gatherd.v1.EmbeddingService";
constexpr std::string_view kTableService = "gatherd.v1.TableService";

// In the order of RpcMethod.
constexpr std::array<MethodInfo, kNumRpcMethods> kMethods = {{
    {"unary", kEmbeddingService, "Lookup"},
    {"bidi_stream", kEmbeddingService, "LookupStream"},
    {"unary", kEmbeddingService, "Update"},
    {"bidi_stream", kEmbeddingService, "UpdateStream"},
    {"unary", kEmbeddingService, "Erase"},
    {"unary", kTableService, "ListTables"},
    {"unary", kTableService, "GetServerInfo"},
}};

// In the order of the codes' numbers.
constexpr std::array<std::string_view, kNumRpcCodes> kCodeNames = {
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated"};

size_t CodeIndex(absl::StatusCode code) {
  const auto index = static_cast<size_t>(code);
  return index < kNumRpcCodes ? index
                              : static_cast<size_t>(absl::StatusCode::kUnknown);
}

MetricLabels MethodLabels(const MethodInfo& info) {
  return {{"grpc_type", std::string(info.type)},
          {"grpc_service", std::string(info.service)},
          {"grpc_method", std::string(info.method)}};
}

}  // namespace

std::string_view RpcMethodName(RpcMethod method) {
  return kMethods[static_cast<size_t>(method)].method;
}

std::optional<RpcMethod> FindRpcMethod(std::string_view path) {
  for (size_t i = 0; i < kNumRpcMethods; ++i) {
    const MethodInfo& info = kMethods[i];
    if (path ==
        "/" + std::string(info.service) + "/" + std::string(info.method)) {
      return static_cast<RpcMethod>(i);
    }
  }
  return std::nullopt;
}

RpcMetrics::RpcMetrics() : methods_(kNumRpcMethods) {}

void RpcMetrics::Started(RpcMethod rpc) { method(rpc).started.Add(1); }

void RpcMetrics::Handled(RpcMethod rpc, absl::StatusCode code,
                         absl::Duration duration) {
  method(rpc).handled[CodeIndex(code)].Add(1);
  method(rpc).seconds.Observe(duration);
}

uint64_t RpcMetrics::num_started(RpcMethod rpc) const {
  return method(rpc).started.Value();
}

uint64_t RpcMetrics::num_handled(RpcMethod rpc, absl::StatusCode code) const {
  return method(rpc).handled[CodeIndex(code)].Value();
}

void RpcMetrics::Collect(
    std::vector<prometheus::MetricFamily>& families) const {
  auto started =
      CounterFamily("grpc_server_started_total", "RPCs started on the server.");
  auto handled = CounterFamily("grpc_server_handled_total",
                               "RPCs completed on the server, by code.");
  auto seconds =
      HistogramFamily("grpc_server_handling_seconds",
                      "Time from the start of an RPC to its answer.");
  for (size_t i = 0; i < kNumRpcMethods; ++i) {
    const MetricLabels labels = MethodLabels(kMethods[i]);
    AddSeries(started, labels, methods_[i].started.Value());
    for (size_t code = 0; code < kNumRpcCodes; ++code) {
      MetricLabels with_code = labels;
      with_code.push_back({"grpc_code", std::string(kCodeNames[code])});
      AddSeries(handled, std::move(with_code),
                methods_[i].handled[code].Value());
    }
    AddSeries(seconds, labels, methods_[i].seconds);
  }
  families.push_back(std::move(started));
  families.push_back(std::move(handled));
  families.push_back(std::move(seconds));
}

}  // namespace gatherd
