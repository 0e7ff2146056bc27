// Keeps the threads that gRPC runs callbacks on from resting all at once.
//
// In gRPC 1.51 each of them sleeps for 100 ms when it has had no event for a
// second. On a quiet server with two of them (machines of up to five cores) one
// call in twenty came while both slept, and waited for up to 100 ms.
#ifndef GATHERD_SERVER_CALLBACK_THREADS_H_
#define GATHERD_SERVER_CALLBACK_THREADS_H_

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace gatherd {

// One a process. Used by one thread.
class CallbackThreads {
 public:
  CallbackThreads();
  // Waits for an event that is under way.
  ~CallbackThreads();
  CallbackThreads(const CallbackThreads&) = delete;
  CallbackThreads& operator=(const CallbackThreads&) = delete;

  // To be called more often than every second: one of them has an event, and
  // is awake until a second later.
  void KeepAwake();

 private:
  // Of calls that fail at once: gRPC offers no other event for these threads.
  grpc::GenericStub stub_;
  std::optional<grpc::ClientContext> call_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;

  absl::Mutex mutex_;
  bool is_under_way_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_CALLBACK_THREADS_H_
