// A handle on a call that was started and whose callback is to come.
#ifndef GATHERD_CLIENT_PENDING_CALL_H_
#define GATHERD_CLIENT_PENDING_CALL_H_

#include <memory>
#include <utility>

namespace gatherd::client {

class AsyncCall;

// Cheap to copy. Letting go of it ends nothing.
class PendingCall {
 public:
  PendingCall() = default;  // of no call
  explicit PendingCall(std::weak_ptr<AsyncCall> call)
      : call_(std::move(call)) {}

  // Has the callback come soon, with CANCELLED unless the call has ended
  // otherwise by then; it may have been done all the same. From any thread, at
  // any time, more than once, also when the client is gone.
  void Cancel() const;

 private:
  std::weak_ptr<AsyncCall> call_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_PENDING_CALL_H_
