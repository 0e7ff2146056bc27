// Asynchronous calls: the attempts of a call follow each other without a
// thread that waits for them.
#ifndef GATHERD_CLIENT_ASYNC_CALL_H_
#define GATHERD_CLIENT_ASYNC_CALL_H_

#include <grpcpp/alarm.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/attempts.h"
#include "client/channel.h"
#include "client/pending_call.h"

namespace gatherd::client {

class AsyncCalls;

// Thread-safe. Owned by its AsyncCalls until its callback has returned.
class AsyncCall {
 public:
  // Called once, on a thread of gRPC, without a lock held. The buffer is the
  // reply if the status is OK.
  using Done = absl::AnyInvocable<void(absl::Status, grpc::ByteBuffer) &&>;

  struct Call {
    // Borrowed as long as the call lasts.
    grpc::GenericStub* stub = nullptr;
    const ConnectionOptions* connection = nullptr;
    std::string method;  // "/package.Service/Method"
    grpc::ByteBuffer request;
    AttemptsOptions attempts;
  };

  AsyncCall(AsyncCalls* owner, Call call, Done done);

  // Once. The callback is never called from within.
  void Start();

  // Also before Start and after the end.
  void Cancel();

 private:
  enum class State { kNew, kCalling, kWaiting, kEnded };

  void Attempt() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnAttempt(const absl::Status& status);
  void OnWaited();
  void Close() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Destroys the call.
  void End(absl::Status status, grpc::ByteBuffer reply);

  AsyncCalls* const owner_;
  const Call call_;
  Done done_;
  grpc::ByteBuffer reply_;  // gRPC writes it while kCalling

  absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kNew;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  Attempts attempts_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Alarm> alarm_ ABSL_GUARDED_BY(mutex_);
};

// The calls in flight of a client. Thread-safe.
class AsyncCalls {
 public:
  AsyncCalls() = default;
  // Cancels them and returns once all their callbacks have.
  ~AsyncCalls();

  PendingCall Start(AsyncCall::Call call, AsyncCall::Done done);

 private:
  friend class AsyncCall;

  void Forget(AsyncCall* call);

  absl::Mutex mutex_;
  bool is_closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::unordered_map<AsyncCall*, std::shared_ptr<AsyncCall>> calls_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_ASYNC_CALL_H_
