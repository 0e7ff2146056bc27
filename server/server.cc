#include "server/server.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "cli/version.h"
#include "server/application.h"
#include "server/backend.h"
#include "server/exit_code.h"
#include "server/log.h"

namespace gatherd {
namespace {

// How long memory that is just being taken may hold up the end.
constexpr absl::Duration kStartupCancelTime = absl::Seconds(1);

// What the main thread waits for.
class Events {
 public:
  void TablesDone(absl::Status status) {
    absl::MutexLock lock(&mutex_);
    tables_ = std::move(status);
  }
  void Signalled() {
    absl::MutexLock lock(&mutex_);
    signalled_ = true;
  }
  void DeviceLost(const absl::Status& loss) {
    absl::MutexLock lock(&mutex_);
    if (loss_.ok()) loss_ = loss;
  }

  // The outcome of bringing the tables up; none if a signal came first.
  std::optional<absl::Status> WaitForTables() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Events::TablesDoneOrSignalled));
    return signalled_ ? std::nullopt : tables_;
  }
  // OK after a signal, else the loss of a device.
  absl::Status WaitForEnd() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Events::SignalledOrLost));
    return loss_;
  }

 private:
  bool TablesDoneOrSignalled() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return signalled_ || tables_.has_value();
  }
  bool SignalledOrLost() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return signalled_ || !loss_.ok();
  }

  absl::Mutex mutex_;
  std::optional<absl::Status> tables_ ABSL_GUARDED_BY(mutex_);
  bool signalled_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status loss_ ABSL_GUARDED_BY(mutex_);
};

ExitCode ExitCodeOf(const absl::Status& no_backend) {
  switch (no_backend.code()) {
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kNotFound:
      return kExitNoGpu;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
      return kExitUsage;
    default:
      return kExitFailure;
  }
}

int Fail(std::string_view what, const absl::Status& status,
         ExitCode exit_code) {
  Log(LogLevel::kError, what, {{"reason", std::string(status.message())}});
  return exit_code;
}

// The end of a drained process. Nothing is taken apart: a gRPC server that
// shuts down answers CANCELLED to calls that reach it meanwhile, a connection
// that closes gives UNAVAILABLE, for which clients go elsewhere.
[[noreturn]] void EndProcess(Application& application, ExitCode exit_code) {
  application.RemoveSocketFiles();
  Log(LogLevel::kInfo, "stopped");
  std::_Exit(exit_code);
}

// Stops while tables are still coming up. What cannot be interrupted (the
// kernel clearing memory) is left to the end of the process.
void StopStartup(Application& application, absl::Duration timeout,
                 ExitCode exit_code) {
  const bool ended =
      application.CancelStartup(absl::Now() + kStartupCancelTime);
  application.Drain(absl::ZeroDuration(), timeout);
  if (ended) return;
  Log(LogLevel::kInfo, "stopped");
  std::_Exit(exit_code);
}

int Serve(const ServerConfig& config, Application& application,
          Events& events) {
  application.StartTables(
      [&](absl::Status status) { events.TablesDone(std::move(status)); });
  const std::optional<absl::Status> tables = events.WaitForTables();
  if (!tables.has_value()) {
    StopStartup(application, config.shutdown_timeout, kExitOk);
    EndProcess(application, kExitOk);
  }
  if (!tables->ok()) {
    Fail("cannot start", *tables, kExitFailure);
    StopStartup(application, absl::ZeroDuration(), kExitFailure);
    return kExitFailure;
  }
  Log(LogLevel::kInfo, "ready");
  const absl::Status loss = events.WaitForEnd();
  if (!loss.ok()) {
    Fail("a device is lost, the process ends", loss, kExitFailure);
    application.Drain(absl::ZeroDuration(), config.shutdown_timeout);
    EndProcess(application, kExitFailure);
  }
  Log(LogLevel::kInfo, "draining");
  application.Drain(config.drain_delay, config.shutdown_timeout);
  EndProcess(application, kExitOk);
}

}  // namespace

int RunServer(const Config& config, ShutdownSignals& signals,
              const BackendSelector& select) {
  auto backend = select(config);
  if (!backend.ok()) {
    return Fail("cannot use the devices", backend.status(),
                ExitCodeOf(backend.status()));
  }
  if (!backend->warning.empty()) Log(LogLevel::kWarning, backend->warning);
  Log(LogLevel::kInfo, "starting",
      {{"version", kGatherdVersion}, {"backend", backend->name}});
  for (const std::string& device : backend->devices) {
    Log(LogLevel::kInfo, "uses a device", {{"device", device}});
  }

  Events events;
  auto application = Application::Create(
      config, *std::move(backend),
      [&events](const absl::Status& loss) { events.DeviceLost(loss); });
  if (!application.ok()) {
    return Fail("cannot start", application.status(),
                absl::IsInvalidArgument(application.status()) ? kExitUsage
                                                              : kExitFailure);
  }
  Announce("listening on " + (*application)->address());
  Announce("metrics on " + (*application)->metrics_address());
  if (const std::string health = (*application)->health_address();
      !health.empty()) {
    Announce("health on " + health);
  }

  signals.Watch([&] { events.Signalled(); });
  return Serve(config.server, **application, events);
}

}  // namespace gatherd
