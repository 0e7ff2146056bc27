// What a command line asks of gatherd.
#ifndef GATHERD_SERVER_INVOCATION_H_
#define GATHERD_SERVER_INVOCATION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace gatherd {

struct Invocation {
  enum class Action : uint8_t { kServe, kCheck, kVersion, kHelp };

  Action action = Action::kServe;
  std::string config_path;  // to serve and to check
  uint32_t num_gpus = 1;    // to check
};

// The text of --help.
extern const char kInvocationHelp[];

// INVALID_ARGUMENT saying what is wrong and what is allowed.
absl::StatusOr<Invocation> ParseInvocation(int argc, const char* const* argv);

}  // namespace gatherd

#endif  // GATHERD_SERVER_INVOCATION_H_
