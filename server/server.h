// The server as a whole: everything behind main().
#ifndef GATHERD_SERVER_SERVER_H_
#define GATHERD_SERVER_SERVER_H_

#include <functional>

#include "absl/status/statusor.h"
#include "server/backend.h"
#include "server/config.h"
#include "server/shutdown_signals.h"

namespace gatherd {

using BackendSelector = std::function<absl::StatusOr<Backend>(const Config&)>;

// Serves, on the backend that `select` chooses, until a signal or the loss of a
// device ends it. Call once, from the main thread. Returns the exit code of the
// process: 0 after a clean stop, 1 after a failure, which has been logged.
int RunServer(const Config& config, ShutdownSignals& signals,
              const BackendSelector& select = SelectBackend);

}  // namespace gatherd

#endif  // GATHERD_SERVER_SERVER_H_
