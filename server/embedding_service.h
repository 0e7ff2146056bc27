// gatherd.v1.EmbeddingService on gRPC's callback API.
//
// Its methods are raw: they get bytes and parse themselves, since gRPC answers
// what it cannot parse with INTERNAL, and they send slices of our own memory.
#ifndef GATHERD_SERVER_EMBEDDING_SERVICE_H_
#define GATHERD_SERVER_EMBEDDING_SERVICE_H_

#include <grpcpp/impl/service_type.h>

#include <memory>

#include "server/serving_context.h"

namespace gatherd {

// The context outlives the service.
std::unique_ptr<grpc::Service> CreateEmbeddingService(
    const ServingContext& context);

}  // namespace gatherd

#endif  // GATHERD_SERVER_EMBEDDING_SERVICE_H_
