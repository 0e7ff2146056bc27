// A unary call of EmbeddingService.
#ifndef GATHERD_SERVER_UNARY_CALL_H_
#define GATHERD_SERVER_UNARY_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "server/call_clock.h"
#include "server/operation.h"
#include "server/serving_context.h"

namespace gatherd {

// Owns itself: gRPC ends it by OnDone, which comes after Finish, the handler's
// return and OnCancel.
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  // The buffers are gRPC's and live as long as the call.
  static grpc::ServerUnaryReactor* Start(const ServingContext& context,
                                         RpcMethod method,
                                         grpc::CallbackServerContext* call,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* reply);

 private:
  UnaryCall(const ServingContext& context, RpcMethod method);

  void OnCancel() override;
  void OnDone() override;
  // gRPC would otherwise hand OnCancel and OnDone, which do next to nothing, to
  // a thread of their own: two switches of threads a call. gRPC calls this no
  // API; should it go, `override` says so, and nothing but time is lost.
  bool InternalInlineable() override { return true; }
  void End(const absl::Status& status);

  const ServingContext& context_;
  CallClock clock_;
  const std::unique_ptr<Operation> operation_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_UNARY_CALL_H_
