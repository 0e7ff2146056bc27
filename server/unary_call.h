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
  void End(const absl::Status& status);

  const ServingContext& context_;
  CallClock clock_;
  const std::unique_ptr<Operation> operation_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_UNARY_CALL_H_
