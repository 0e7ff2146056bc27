#include "server/shutdown_signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "server/exit_code.h"
#include "server/log.h"

namespace gatherd {
namespace {

// The signal that came, or 0 if stopped.
uint32_t WaitForSignal(int signal_fd, int stop_fd) {
  while (true) {
    pollfd fds[] = {{signal_fd, POLLIN, 0}, {stop_fd, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) continue;  // EINTR
    if (fds[1].revents != 0) return 0;
    signalfd_siginfo info{};
    if (read(signal_fd, &info, sizeof(info)) != sizeof(info)) continue;
    Log(LogLevel::kInfo, "signal received", {{"signal", info.ssi_signo}});
    // Who sends it to have files read again must not lose the tables.
    if (info.ssi_signo != SIGHUP) return info.ssi_signo;
  }
}

}  // namespace

ShutdownSignals::ShutdownSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC);
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
}

ShutdownSignals::~ShutdownSignals() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    // An eventfd at 0 takes a 1.
    [[maybe_unused]] const ssize_t written = write(stop_fd_, &one, sizeof(one));
    thread_.join();
  }
  close(signal_fd_);
  close(stop_fd_);
}

void ShutdownSignals::Watch(std::function<void()> on_first) {
  thread_ =
      std::thread([this, on_first = std::move(on_first)] { Run(on_first); });
}

void ShutdownSignals::Run(const std::function<void()>& on_first) const {
  if (WaitForSignal(signal_fd_, stop_fd_) == 0) return;
  on_first();
  uint32_t signal = 0;
  do {
    signal = WaitForSignal(signal_fd_, stop_fd_);
    if (signal == 0) return;
  } while (signal != SIGINT);
  Log(LogLevel::kWarning, "interrupted while stopping, ending at once");
  std::_Exit(kExitFailure);
}

}  // namespace gatherd
