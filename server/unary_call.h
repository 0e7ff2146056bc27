// A unary call of EmbeddingService.
#ifndef GATHERD_SERVER_UNARY_CALL_H_
#define GATHERD_SERVER_UNARY_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/call_clock.h"
#include "server/operation.h"
#include "server/serving_context.h"
#include "server/unread_replies.h"

namespace gatherd {

// Owns itself: gRPC ends it by OnDone, which comes after Finish, the handler's
// return and OnCancel.
class UnaryCall final : public grpc::ServerUnaryReactor, private ReplyingCall {
 public:
  // The buffers are gRPC's and live as long as the call.
  static grpc::ServerUnaryReactor* Start(const ServingContext& context,
                                         RpcMethod method,
                                         grpc::CallbackServerContext* call,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* reply);

 private:
  UnaryCall(const ServingContext& context, RpcMethod method,
            grpc::CallbackServerContext& call);

  void OnCancel() override;
  void OnDone() override;
  // gRPC would otherwise hand OnCancel and OnDone, which do next to nothing, to
  // a thread of their own: two switches of threads a call. gRPC calls this no
  // API; should it go, `override` says so, and nothing but time is lost.
  bool InternalInlineable() override { return true; }
  void OnUnread() override;
  void End(const absl::Status& status);
  // Known once the call is done: its caller cancelled it or its deadline passed
  // while the message was on its way, or there is none.
  void CountWithoutMessage();

  const ServingContext& context_;
  grpc::CallbackServerContext& call_;  // lives as long as this
  const absl::Time deadline_;          // infinite if it carries none
  CallClock clock_;
  const std::unique_ptr<Operation> operation_;
  bool lacks_message_ = false;
  bool watched_ = false;  // by UnreadReplies
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_UNARY_CALL_H_
