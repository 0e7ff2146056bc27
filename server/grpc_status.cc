#include "server/grpc_status.h"

#include <string>

#include "absl/strings/string_view.h"

namespace gatherd {
namespace {

// A client accepts 8 KiB of trailers by default; percent-encoding triples.
constexpr size_t kMaxMessageBytes = 2048;

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const absl::string_view message = status.message();
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(message.substr(0, kMaxMessageBytes)));
}

}  // namespace gatherd
