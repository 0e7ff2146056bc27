// Addresses to listen on: HOST:PORT, [IPV6]:PORT, or unix:PATH (gRPC alone).
#ifndef GATHERD_SERVER_LISTEN_ADDRESS_H_
#define GATHERD_SERVER_LISTEN_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace gatherd {

struct HostPort {
  std::string host;  // without brackets
  int port = 0;
};

// INVALID_ARGUMENT naming what was given.
absl::StatusOr<HostPort> ParseHostPort(std::string_view address);

// `address` with `port` in place of its own: what a client can use once a
// free port has been picked. A unix: address stays as it is.
std::string WithPort(std::string_view address, int port);

// The path of a unix: address; empty for others.
std::string_view UnixSocketPath(std::string_view address);

}  // namespace gatherd

#endif  // GATHERD_SERVER_LISTEN_ADDRESS_H_
