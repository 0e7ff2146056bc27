#include "server/stream_call.h"

#include <grpc/grpc.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/grpc_status.h"

namespace gatherd {

StreamCall::StreamCall(const ServingContext& context, RpcMethod method,
                       grpc::CallbackServerContext& call)
    : context_(context),
      method_(method),
      call_(call),
      deadline_(DeadlineOf(call.deadline())),
      clock_(context.metrics.rpcs(), context.refusals, method) {
  context_.open_calls.Opened();
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StreamCall::Start(
    const ServingContext& context, RpcMethod method,
    grpc::CallbackServerContext* call) {
  auto* self = new StreamCall(context, method, *call);
  context.open_calls.AddStream(self);
  if (context.state.refusing()) {
    context.metrics.requests().Rejected(Rejection::kDraining);
    self->End(absl::UnavailableError("the server is draining"));
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
  {
    absl::MutexLock lock(&mutex_);
    write_start_ = absl::Now();
  }
  StartWrite(&reply_);
}

void StreamCall::OnWriteDone(bool ok) {
  std::unique_ptr<Operation> written;  // goes when the lock has gone
  absl::Status end;
  {
    absl::MutexLock lock(&mutex_);
    write_start_ = absl::InfiniteFuture();
    end = unread_;
    if (ok && end.ok()) {
      written = std::move(operation_);
      reply_.Clear();
      ReadNext();
      return;
    }
  }
  End(end.ok() ? absl::CancelledError("the caller has gone") : end);
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
  Answer(absl::UnavailableError("the server is draining"));
}

void StreamCall::EndIfUnread(absl::Time since) {
  absl::MutexLock lock(&mutex_);
  if (write_start_ > since || !unread_.ok()) return;
  unread_ = absl::DeadlineExceededError(
      absl::StrCat("the client did not take a reply within ",
                   absl::FormatDuration(context_.stream_reply_timeout),
                   " (server.stream_reply_timeout)"));
  context_.metrics.requests().Rejected(Rejection::kDeadline);
  // A status that is sent would come after the reply, in the client's buffers:
  // this takes back what has not left. OnWriteDone does the rest.
  grpc_call_cancel_with_status(call_.c_call(), GRPC_STATUS_DEADLINE_EXCEEDED,
                               std::string(unread_.message()).c_str(), nullptr);
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
