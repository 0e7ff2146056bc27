// gRPC's statuses as Abseil's: code and message unchanged.
#ifndef GATHERD_CLIENT_GRPC_STATUS_H_
#define GATHERD_CLIENT_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace gatherd::client {

inline absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_GRPC_STATUS_H_
