#include "server/unary_call.h"

#include "server/grpc_status.h"

namespace gatherd {

UnaryCall::UnaryCall(const ServingContext& context, RpcMethod method)
    : context_(context),
      clock_(context.metrics.rpcs(), method),
      operation_(CreateOperation(context, method)) {
  context_.open_calls.Opened();
}

grpc::ServerUnaryReactor* UnaryCall::Start(const ServingContext& context,
                                           RpcMethod method,
                                           grpc::CallbackServerContext* call,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) {
  auto* self = new UnaryCall(context, method);
  if (context.state.refusing()) {
    context.metrics.requests().Rejected(Rejection::kDraining);
    self->End(absl::UnavailableError("the server is draining"));
    return self;
  }
  absl::Time deadline = DeadlineOf(call->deadline());
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
  Finish(ToGrpcStatus(status));
}

void UnaryCall::OnCancel() { operation_->Cancel(); }

void UnaryCall::OnDone() {
  OpenCalls& open_calls = context_.open_calls;
  delete this;
  open_calls.Closed();
}

}  // namespace gatherd
