// Environment variables that override scalar keys of `server`:
// GATHERD_SERVER_ADDRESS and the like.
#ifndef GATHERD_SERVER_CONFIG_ENVIRONMENT_H_
#define GATHERD_SERVER_CONFIG_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/config.h"

namespace gatherd {

// The one that overrides a key of `server`.
std::string EnvironmentVariableOf(std::string_view key);

// INVALID_ARGUMENT "VARIABLE: what is wrong, and what is allowed".
absl::Status ApplyEnvironment(ServerConfig& server);

// A line for each variable that looks like an override and is none. Those that
// Kubernetes sets for a Service named gatherd-server are passed over.
std::vector<std::string> EnvironmentWarnings();

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_ENVIRONMENT_H_
