// How the process ends, for scripts and supervisors.
#ifndef GATHERD_SERVER_EXIT_CODE_H_
#define GATHERD_SERVER_EXIT_CODE_H_

namespace gatherd {

enum ExitCode : int {
  kExitOk = 0,       // clean stop, --help, --version
  kExitFailure = 1,  // failed at run time
  kExitUsage = 2,    // bad flags or configuration, a missing file included
  kExitNoGpu = 3,    // no usable GPU where one is demanded
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_EXIT_CODE_H_
