#include "client/grpc_status.h"

#include <catch2/catch.hpp>
#include <utility>

namespace gatherd::client {

TEST_CASE("Statuses of gRPC keep their code and text") {
  constexpr std::pair<grpc::StatusCode, absl::StatusCode> kCodes[] = {
      {grpc::CANCELLED, absl::StatusCode::kCancelled},
      {grpc::UNKNOWN, absl::StatusCode::kUnknown},
      {grpc::INVALID_ARGUMENT, absl::StatusCode::kInvalidArgument},
      {grpc::DEADLINE_EXCEEDED, absl::StatusCode::kDeadlineExceeded},
      {grpc::NOT_FOUND, absl::StatusCode::kNotFound},
      {grpc::PERMISSION_DENIED, absl::StatusCode::kPermissionDenied},
      {grpc::RESOURCE_EXHAUSTED, absl::StatusCode::kResourceExhausted},
      {grpc::FAILED_PRECONDITION, absl::StatusCode::kFailedPrecondition},
      {grpc::UNIMPLEMENTED, absl::StatusCode::kUnimplemented},
      {grpc::INTERNAL, absl::StatusCode::kInternal},
      {grpc::UNAVAILABLE, absl::StatusCode::kUnavailable},
      {grpc::UNAUTHENTICATED, absl::StatusCode::kUnauthenticated},
  };
  for (const auto& [code, expected] : kCodes) {
    const absl::Status status = FromGrpc(grpc::Status(code, "because"));
    CHECK(status.code() == expected);
    CHECK(status.message() == "because");
  }
  CHECK(FromGrpc(grpc::Status::OK).ok());
}

}  // namespace gatherd::client
