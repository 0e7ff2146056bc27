// SIGTERM and SIGINT: the first begins the end. After it, SIGTERM changes
// nothing (supervisors repeat it), and SIGINT, a person at a terminal who does
// not want to wait, ends the process at once. SIGHUP changes nothing.
#ifndef GATHERD_SERVER_SHUTDOWN_SIGNALS_H_
#define GATHERD_SERVER_SHUTDOWN_SIGNALS_H_

#include <functional>
#include <thread>

namespace gatherd {

// One a process, made before any other thread: it blocks the signals, and the
// threads that come later inherit that. They stay blocked when it goes.
class ShutdownSignals {
 public:
  ShutdownSignals();
  // The callback is not running any more once this returns.
  ~ShutdownSignals();

  // `on_first` runs on a thread of this, at the first signal after or before
  // this call. At a SIGINT after that, the process ends with kExitFailure. Call
  // once.
  void Watch(std::function<void()> on_first);

 private:
  void Run(const std::function<void()>& on_first) const;

  int signal_fd_ = -1;
  int stop_fd_ = -1;
  std::thread thread_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_SHUTDOWN_SIGNALS_H_
