// Which engine serves the tables: the one place that knows what this build
// and this machine have.
#ifndef GATHERD_SERVER_BACKEND_H_
#define GATHERD_SERVER_BACKEND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/catalog/catalog.h"
#include "server/config.h"

namespace gatherd {

struct Backend {
  std::string name;                  // "cpu" or "cuda"
  std::vector<std::string> devices;  // one line a GPU; none on the CPU
  TableFactory make_table;
  std::string warning;  // for the log, if the choice may surprise; or empty
};

// FAILED_PRECONDITION, saying what is missing and what to configure instead,
// if `devices` demands GPUs that cannot be used: the process ends with
// kExitNoGpu.
absl::StatusOr<Backend> SelectBackend(const DevicesConfig& devices);

// The backends that this build has, for --version: "cpu".
std::string BuiltBackends();

}  // namespace gatherd

#endif  // GATHERD_SERVER_BACKEND_H_
