// What becomes of exceptions that nobody catches.
#ifndef GATHERD_SERVER_UNCAUGHT_H_
#define GATHERD_SERVER_UNCAUGHT_H_

namespace gatherd {

// From now on one of any thread is logged. Where memory or threads have run
// out the process then ends with exit code 1, as after other failures; anything
// else is a fault of ours and aborts.
void ReportUncaughtExceptions();

}  // namespace gatherd

#endif  // GATHERD_SERVER_UNCAUGHT_H_
