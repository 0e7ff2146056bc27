// One call's entry in grpc_server_* and, if it is refused, in the list of
// recent refusals; and its deadline.
#ifndef GATHERD_SERVER_CALL_CLOCK_H_
#define GATHERD_SERVER_CALL_CLOCK_H_

#include <grpc/support/time.h>
#include <grpcpp/server_context.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/metrics/rpc_metrics.h"
#include "server/recent_refusals.h"

namespace gatherd {

// Counts a call as started when made and as handled when told so.
class CallClock {
 public:
  CallClock(RpcMetrics& metrics, RecentRefusals& refusals, RpcMethod method)
      : metrics_(metrics),
        refusals_(refusals),
        method_(method),
        start_(absl::Now()) {
    metrics_.Started(method_);
  }

  // Before the answer leaves: who has it finds it counted.
  void Handled(const absl::Status& status) {
    const absl::Time now = absl::Now();
    metrics_.Handled(method_, status.code(), now - start_);
    refusals_.Add(method_, status, now);
  }

  // A call that was handled with OK and whose reply did not get through. It
  // stays counted as handled.
  void Unread(const absl::Status& error) {
    refusals_.Add(method_, error, absl::Now());
  }

 private:
  RpcMetrics& metrics_;
  RecentRefusals& refusals_;
  const RpcMethod method_;
  const absl::Time start_;
};

// The deadline of a call, infinite if it carries none. Not by way of
// std::chrono, whose nanoseconds end in the year 2262: callers that mean "no
// deadline" send later ones.
inline absl::Time DeadlineOf(const grpc::ServerContextBase& call) {
  const gpr_timespec deadline =
      gpr_convert_clock_type(call.raw_deadline(), GPR_CLOCK_REALTIME);
  if (deadline.tv_sec == std::numeric_limits<int64_t>::max()) {
    return absl::InfiniteFuture();
  }
  return absl::FromUnixSeconds(deadline.tv_sec) +
         absl::Nanoseconds(deadline.tv_nsec);
}

}  // namespace gatherd

#endif  // GATHERD_SERVER_CALL_CLOCK_H_
