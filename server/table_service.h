// gatherd.v1.TableService: describes the server and its tables.
#ifndef GATHERD_SERVER_TABLE_SERVICE_H_
#define GATHERD_SERVER_TABLE_SERVICE_H_

#include <grpcpp/impl/service_type.h>

#include <memory>
#include <string>
#include <vector>

#include "server/serving_context.h"

namespace gatherd {

struct ServerDescription {
  std::string backend;
  std::vector<std::string> devices;
};

// The context outlives the service.
std::unique_ptr<grpc::Service> CreateTableService(
    const ServingContext& context, ServerDescription description);

}  // namespace gatherd

#endif  // GATHERD_SERVER_TABLE_SERVICE_H_
