#include "client/async_call.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/time/clock.h"
#include "client/grpc_status.h"

namespace gatherd::client {

AsyncCall::AsyncCall(AsyncCalls* owner, Call call, Done done)
    : owner_(owner),
      call_(std::move(call)),
      done_(std::move(done)),
      attempts_(call_.attempts) {}

void AsyncCall::Start() {
  absl::MutexLock lock(&mutex_);
  Attempt();
}

// gRPC reports on threads of its own, so the lock may be held meanwhile.
void AsyncCall::Attempt() {
  state_ = State::kCalling;
  context_.emplace();
  context_->set_deadline(absl::ToChronoTime(attempts_.deadline()));
  AddCredentials(*call_.connection, *context_);
  if (is_cancelled_) context_->TryCancel();
  reply_.Clear();
  call_.stub->UnaryCall(
      &*context_, call_.method, {}, &call_.request, &reply_,
      [this](const grpc::Status& status) { OnAttempt(FromGrpc(status)); });
}

void AsyncCall::OnAttempt(const absl::Status& status) {
  absl::Status result;
  {
    absl::MutexLock lock(&mutex_);
    const std::optional<absl::Duration> wait =
        is_cancelled_ ? std::nullopt : attempts_.WaitAfter(status);
    if (wait.has_value()) {
      state_ = State::kWaiting;
      alarm_.emplace();
      alarm_->Set(absl::ToChronoTime(absl::Now() + *wait),
                  [this](bool) { OnWaited(); });
      return;
    }
    Close();
    result = attempts_.Result(status);
  }
  End(std::move(result), std::move(reply_));
}

// Comes early if the wait was cancelled.
void AsyncCall::OnWaited() {
  absl::Status result;
  {
    absl::MutexLock lock(&mutex_);
    if (!is_cancelled_) {
      Attempt();
      return;
    }
    Close();
    result = attempts_.Result(absl::CancelledError("the call was cancelled"));
  }
  End(std::move(result), grpc::ByteBuffer());
}

// The end of a channel joins the threads that callbacks run on, so that no call
// may have it left once the client might end.
void AsyncCall::Close() {
  state_ = State::kEnded;
  context_.reset();
  alarm_.reset();
}

void AsyncCall::End(absl::Status status, grpc::ByteBuffer reply) {
  {
    // What the callback has captured goes before the client does.
    Done done = std::move(done_);
    std::move(done)(std::move(status), std::move(reply));
  }
  owner_->Forget(this);
}

void AsyncCall::Cancel() {
  absl::MutexLock lock(&mutex_);
  if (is_cancelled_) return;
  is_cancelled_ = true;
  if (state_ == State::kCalling) context_->TryCancel();
  if (state_ == State::kWaiting) alarm_->Cancel();
}

AsyncCalls::~AsyncCalls() {
  std::unordered_map<AsyncCall*, std::shared_ptr<AsyncCall>> calls;
  {
    absl::MutexLock lock(&mutex_);
    is_closing_ = true;
    calls = calls_;
  }
  for (const auto& [unused, call] : calls) call->Cancel();
  const auto is_idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return calls_.empty();
  };
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&is_idle));
}

PendingCall AsyncCalls::Start(AsyncCall::Call call, AsyncCall::Done done) {
  const auto started =
      std::make_shared<AsyncCall>(this, std::move(call), std::move(done));
  bool is_closing = false;
  {
    absl::MutexLock lock(&mutex_);
    calls_.emplace(started.get(), started);
    is_closing = is_closing_;
  }
  if (is_closing) started->Cancel();
  started->Start();
  return PendingCall(started);
}

void AsyncCalls::Forget(AsyncCall* call) {
  std::shared_ptr<AsyncCall> last;  // outlives the lock
  absl::MutexLock lock(&mutex_);
  const auto found = calls_.find(call);
  last = std::move(found->second);
  calls_.erase(found);
}

void PendingCall::Cancel() const {
  if (const std::shared_ptr<AsyncCall> call = call_.lock()) call->Cancel();
}

}  // namespace gatherd::client
