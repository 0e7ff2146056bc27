#include "server/embedding_service.h"

#include "proto/gatherd/v1/gatherd.grpc.pb.h"
#include "server/stream_call.h"
#include "server/unary_call.h"

namespace gatherd {
namespace {

using Service = v1::EmbeddingService;
using RawService = Service::WithRawCallbackMethod_Lookup<
    Service::WithRawCallbackMethod_LookupStream<
        Service::WithRawCallbackMethod_Update<
            Service::WithRawCallbackMethod_UpdateStream<
                Service::WithRawCallbackMethod_Erase<Service::Service>>>>>;
using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using Stream = grpc::ServerBidiReactor<ByteBuffer, ByteBuffer>;

class EmbeddingServiceImpl final : public RawService {
 public:
  explicit EmbeddingServiceImpl(const ServingContext& context)
      : context_(context) {}

  grpc::ServerUnaryReactor* Lookup(CallbackServerContext* call,
                                   const ByteBuffer* request,
                                   ByteBuffer* reply) override {
    return UnaryCall::Start(context_, RpcMethod::kLookup, call, request, reply);
  }
  grpc::ServerUnaryReactor* Update(CallbackServerContext* call,
                                   const ByteBuffer* request,
                                   ByteBuffer* reply) override {
    return UnaryCall::Start(context_, RpcMethod::kUpdate, call, request, reply);
  }
  grpc::ServerUnaryReactor* Erase(CallbackServerContext* call,
                                  const ByteBuffer* request,
                                  ByteBuffer* reply) override {
    return UnaryCall::Start(context_, RpcMethod::kErase, call, request, reply);
  }
  Stream* LookupStream(CallbackServerContext* call) override {
    return StreamCall::Start(context_, RpcMethod::kLookupStream, call);
  }
  Stream* UpdateStream(CallbackServerContext* call) override {
    return StreamCall::Start(context_, RpcMethod::kUpdateStream, call);
  }

 private:
  const ServingContext& context_;
};

}  // namespace

std::unique_ptr<grpc::Service> CreateEmbeddingService(
    const ServingContext& context) {
  return std::make_unique<EmbeddingServiceImpl>(context);
}

}  // namespace gatherd
