// What every call of EmbeddingService works with. Made by the composition
// root; all of it outlives the calls.
#ifndef GATHERD_SERVER_SERVING_CONTEXT_H_
#define GATHERD_SERVER_SERVING_CONTEXT_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/catalog/catalog.h"
#include "core/exec/dispatcher.h"
#include "server/admission.h"
#include "server/metrics/metrics.h"
#include "server/open_calls.h"
#include "server/recent_refusals.h"
#include "server/reply_memory.h"
#include "server/request_codec.h"
#include "server/serving_state.h"
#include "server/unread_replies.h"

namespace gatherd {

struct ServingContext {
  const Catalog& catalog;
  Dispatcher& dispatcher;
  Admission& admission;
  Metrics& metrics;
  const ServingState& state;
  OpenCalls& open_calls;
  UnreadReplies& unread_replies;
  RecentRefusals& refusals;
  RequestLimits limits;
  ReplyMemory reply_memory;
  // Of unary calls that carry none, and of each message on a stream.
  absl::Duration default_deadline;
  // Called with every error that is the loss of a device; see
  // core/base/device_loss.h. From any thread.
  std::function<void(const absl::Status&)> on_device_loss;
};

// What calls end with, and are refused with, once the server stops.
inline absl::Status DrainingError() {
  return absl::UnavailableError("the server is draining");
}

// OK, or DrainingError for a call that comes too late, which this counts.
inline absl::Status CheckTakesCalls(const ServingContext& context) {
  if (!context.state.refusing()) return absl::OkStatus();
  context.metrics.requests().Rejected(Rejection::kDraining);
  return DrainingError();
}

}  // namespace gatherd

#endif  // GATHERD_SERVER_SERVING_CONTEXT_H_
