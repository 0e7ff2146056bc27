// The server as a whole: everything behind main().
#ifndef GATHERD_SERVER_SERVER_H_
#define GATHERD_SERVER_SERVER_H_

#include "server/config.h"

namespace gatherd {

// Serves until a signal ends it. Call once, from the main thread, before any
// other thread is started: SIGTERM and SIGINT are blocked in all of them.
// Returns the exit code of the process: 0 after a clean stop, 1 after a
// failure, which has been logged.
int RunServer(const Config& config);

}  // namespace gatherd

#endif  // GATHERD_SERVER_SERVER_H_
