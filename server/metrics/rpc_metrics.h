// grpc_server_*: calls started and handled, and how long they took, with the
// names and labels of go-grpc-prometheus. Thread-safe.
#ifndef GATHERD_SERVER_METRICS_RPC_METRICS_H_
#define GATHERD_SERVER_METRICS_RPC_METRICS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/metrics/sharded_counter.h"
#include "server/metrics/sharded_histogram.h"

namespace prometheus {
struct MetricFamily;
}

namespace gatherd {

enum class RpcMethod : uint8_t {
  kLookup,
  kLookupStream,
  kUpdate,
  kUpdateStream,
  kErase,
  kListTables,
  kGetServerInfo,
};

inline constexpr size_t kNumRpcMethods = 7;
inline constexpr size_t kNumRpcCodes = 17;  // those of gRPC and absl::Status

std::string_view RpcMethodName(RpcMethod method);  // "Lookup", ...

// The method of "/gatherd.v1.EmbeddingService/Lookup"; none if it is not ours.
std::optional<RpcMethod> FindRpcMethod(std::string_view path);

class RpcMetrics {
 public:
  RpcMetrics();

  void Started(RpcMethod method);
  void Handled(RpcMethod method, absl::StatusCode code,
               absl::Duration duration);

  uint64_t num_started(RpcMethod method) const;
  uint64_t num_handled(RpcMethod method, absl::StatusCode code) const;

  // How long calls took, from start to answer.
  const ShardedHistogram& seconds(RpcMethod rpc) const {
    return method(rpc).seconds;
  }

  void Collect(std::vector<prometheus::MetricFamily>& families) const;

 private:
  struct Method {
    ShardedCounter started;
    std::array<ShardedCounter, kNumRpcCodes> handled;
    ShardedHistogram seconds = ShardedHistogram::OfDurations();
  };

  const Method& method(RpcMethod method) const {
    return methods_[static_cast<size_t>(method)];
  }
  Method& method(RpcMethod method) {
    return methods_[static_cast<size_t>(method)];
  }

  std::vector<Method> methods_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_METRICS_RPC_METRICS_H_
