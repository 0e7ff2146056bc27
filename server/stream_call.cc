#include "server/stream_call.h"

#include <algorithm>
#include <utility>

#include "server/grpc_status.h"

namespace gatherd {

StreamCall::StreamCall(const ServingContext& context, RpcMethod method,
                       grpc::CallbackServerContext& call)
    : context_(context),
      method_(method),
      call_(call),
      deadline_(DeadlineOf(call)),
      clock_(context.metrics.rpcs(), context.refusals, method) {
  context_.open_calls.Opened();
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StreamCall::Start(
    const ServingContext& context, RpcMethod method,
    grpc::CallbackServerContext* call) {
  auto* self = new StreamCall(context, method, *call);
  context.open_calls.AddStream(self);
  if (absl::Status late = CheckTakesCalls(context); !late.ok()) {
    self->End(late);
    return self;
  }
  absl::MutexLock lock(&self->mutex_);
  self->ReadNext();
  return self;
}

void StreamCall::ReadNext() {
  if (ended_) return;
  request_.Clear();
  StartRead(&request_);
}

void StreamCall::OnReadDone(bool ok) {
  Operation* operation = nullptr;
  bool cancelled = false;
  {
    absl::MutexLock lock(&mutex_);
    if (ended_) return;
    // A failed read may come before OnCancel.
    cancelled = cancelled_ || (!ok && call_.IsCancelled());
    if (ok && !cancelled) {
      operation_ = CreateOperation(context_, method_);
      operation = operation_.get();
    }
  }
  if (operation == nullptr) {
    End(cancelled ? absl::CancelledError("the caller cancelled the stream")
                  : absl::OkStatus());
    return;
  }
  operation->Start(
      request_, &reply_,
      std::min(deadline_, absl::Now() + context_.default_deadline),
      [this](const absl::Status& status) { OnOperationDone(status); });
}

void StreamCall::OnOperationDone(const absl::Status& status) {
  if (!status.ok()) {
    End(status);
    return;
  }
  context_.unread_replies.Add(this, call_.c_call());
  StartWrite(&reply_);
}

void StreamCall::OnWriteDone(bool ok) {
  if (!context_.unread_replies.Remove(this)) {
    End(context_.unread_replies.error());
    return;
  }
  if (!ok) {
    End(absl::CancelledError("the caller has gone"));
    return;
  }
  std::unique_ptr<Operation> written;  // goes when the lock has gone
  absl::MutexLock lock(&mutex_);
  written = std::move(operation_);
  reply_.Clear();
  ReadNext();
}

void StreamCall::OnCancel() {
  absl::MutexLock lock(&mutex_);
  cancelled_ = true;
  if (operation_ != nullptr) operation_->Cancel();
}

void StreamCall::EndIfIdle() {
  {
    absl::MutexLock lock(&mutex_);
    if (operation_ != nullptr || ended_) return;
    ended_ = true;
  }
  Answer(DrainingError());
}

// OnWriteDone does the rest.
void StreamCall::OnUnread() {
  context_.metrics.requests().Rejected(Rejection::kDeadline);
}

void StreamCall::End(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    if (ended_) return;
    ended_ = true;
  }
  Answer(status);
}

void StreamCall::Answer(const absl::Status& status) {
  clock_.Handled(status);
  Finish(ToGrpcStatus(status));
}

void StreamCall::OnDone() {
  context_.open_calls.RemoveStream(this);
  OpenCalls& open_calls = context_.open_calls;
  delete this;
  open_calls.Closed();
}

}  // namespace gatherd
