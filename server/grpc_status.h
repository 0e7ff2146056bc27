// Our statuses as gRPC's: the one place where they are translated.
#ifndef GATHERD_SERVER_GRPC_STATUS_H_
#define GATHERD_SERVER_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace gatherd {

// The codes are the same numbers. A long message is cut: it travels in
// trailers, for which clients have a limit.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace gatherd

#endif  // GATHERD_SERVER_GRPC_STATUS_H_
