// Which servers an address names, as gRPC is told.
#ifndef GATHERD_CLIENT_TARGET_H_
#define GATHERD_CLIENT_TARGET_H_

#include <string>

#include "absl/status/statusor.h"

namespace gatherd::client {

struct Target {
  std::string name;  // what gRPC resolves
  // The name stands for several servers that have the same tables.
  bool is_several = false;
};

// INVALID_ARGUMENT if the address is empty, or is a list (IP:PORT,IP:PORT,...)
// with something else in it.
absl::StatusOr<Target> ParseAddress(const std::string& address);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_TARGET_H_
