// One call's entry in grpc_server_*, and its deadline.
#ifndef GATHERD_SERVER_CALL_CLOCK_H_
#define GATHERD_SERVER_CALL_CLOCK_H_

#include <algorithm>
#include <chrono>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/metrics/rpc_metrics.h"

namespace gatherd {

// Counts a call as started when made and as handled when told so.
class CallClock {
 public:
  CallClock(RpcMetrics& metrics, RpcMethod method)
      : metrics_(metrics), method_(method), start_(absl::Now()) {
    metrics_.Started(method_);
  }

  // Before the answer leaves: who has it finds it counted.
  void Handled(const absl::Status& status) {
    metrics_.Handled(method_, status.code(), absl::Now() - start_);
  }

 private:
  RpcMetrics& metrics_;
  const RpcMethod method_;
  const absl::Time start_;
};

// The deadline of a call, infinite if it carries none.
inline absl::Time DeadlineOf(std::chrono::system_clock::time_point deadline) {
  return deadline == std::chrono::system_clock::time_point::max()
             ? absl::InfiniteFuture()
             : absl::FromChrono(deadline);
}

}  // namespace gatherd

#endif  // GATHERD_SERVER_CALL_CLOCK_H_
