// A stream of EmbeddingService: messages are carried out one after the other,
// so replies come in the order of requests, and a client that does not read
// its replies has no more of its requests read.
#ifndef GATHERD_SERVER_STREAM_CALL_H_
#define GATHERD_SERVER_STREAM_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/call_clock.h"
#include "server/operation.h"
#include "server/serving_context.h"
#include "server/unread_replies.h"

namespace gatherd {

// Owns itself: gRPC ends it by OnDone, which comes after Finish and every other
// reaction.
class StreamCall final
    : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
      private IdlingCall,
      private ReplyingCall {
 public:
  static grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Start(
      const ServingContext& context, RpcMethod method,
      grpc::CallbackServerContext* call);

 private:
  StreamCall(const ServingContext& context, RpcMethod method,
             grpc::CallbackServerContext& call);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void EndIfIdle() override;
  void OnUnread() override;

  // gRPC runs no reaction inside StartRead, so holding the lock is safe.
  void ReadNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnOperationDone(const absl::Status& status);
  // The first call ends the stream, others do nothing.
  void End(const absl::Status& status);
  // For whoever has set ended_. This may be gone when it returns, hence not
  // under the lock.
  void Answer(const absl::Status& status);

  const ServingContext& context_;
  const RpcMethod method_;
  grpc::CallbackServerContext& call_;  // lives as long as the stream
  const absl::Time deadline_;          // of the whole stream
  CallClock clock_;
  // Of the message at hand; gRPC and the operation take turns with them.
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;

  absl::Mutex mutex_;
  // Of the message at hand, until its reply is written.
  std::unique_ptr<Operation> operation_ ABSL_GUARDED_BY(mutex_);
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  // Nothing is started on the stream once this is set.
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_STREAM_CALL_H_
