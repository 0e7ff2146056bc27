#include "server/unary_call.h"

#include "server/grpc_status.h"
#include "server/request_codec.h"

namespace gatherd {

UnaryCall::UnaryCall(const ServingContext& context, RpcMethod method,
                     grpc::CallbackServerContext& call)
    : context_(context),
      call_(call),
      deadline_(DeadlineOf(call)),
      clock_(context.metrics.rpcs(), context.refusals, method),
      operation_(CreateOperation(context, method)) {
  context_.open_calls.Opened();
}

grpc::ServerUnaryReactor* UnaryCall::Start(const ServingContext& context,
                                           RpcMethod method,
                                           grpc::CallbackServerContext* call,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) {
  auto* self = new UnaryCall(context, method, *call);
  if (absl::Status late = CheckTakesCalls(context); !late.ok()) {
    self->End(late);
    return self;
  }
  if (!request->Valid()) {
    self->lacks_message_ = true;
    self->Finish(ToGrpcStatus(NoMessage(context.limits)));
    return self;
  }
  absl::Time deadline = self->deadline_;
  if (deadline == absl::InfiniteFuture()) {
    deadline = absl::Now() + context.default_deadline;
  }
  self->operation_->Start(
      *request, reply, deadline,
      [self](const absl::Status& status) { self->End(status); });
  return self;
}

void UnaryCall::End(const absl::Status& status) {
  clock_.Handled(status);
  // gRPC ends a call at its deadline, whoever takes the reply: most calls need
  // no watching and no lock for it.
  watched_ = deadline_ > absl::Now() + context_.unread_replies.timeout();
  if (watched_) context_.unread_replies.Add(this, call_.c_call());
  Finish(ToGrpcStatus(status));
}

void UnaryCall::OnUnread() {
  context_.metrics.requests().Rejected(Rejection::kDeadline);
  clock_.Unread(context_.unread_replies.error());
}

void UnaryCall::OnCancel() { operation_->Cancel(); }

void UnaryCall::CountWithoutMessage() {
  RequestMetrics& requests = context_.metrics.requests();
  if (!call_.IsCancelled()) {
    requests.Rejected(Rejection::kTooLarge);
    clock_.Handled(NoMessage(context_.limits));
  } else if (absl::Now() > deadline_) {
    requests.Rejected(Rejection::kDeadline);
    clock_.Handled(absl::DeadlineExceededError("no message in time"));
  } else {
    clock_.Handled(absl::CancelledError("the caller has gone"));
  }
}

void UnaryCall::OnDone() {
  if (lacks_message_) CountWithoutMessage();
  if (watched_) context_.unread_replies.Remove(this);
  OpenCalls& open_calls = context_.open_calls;
  delete this;
  open_calls.Closed();
}

}  // namespace gatherd
