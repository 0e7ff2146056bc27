// The composition root: makes the parts of a server, holds them, and takes
// them apart in the right order.
#ifndef GATHERD_SERVER_APPLICATION_H_
#define GATHERD_SERVER_APPLICATION_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/backend.h"
#include "server/config.h"

namespace gatherd {

class Application {
 public:
  virtual ~Application() = default;

  // Opens all ports. UNAVAILABLE naming the address that cannot be had,
  // INVALID_ARGUMENT naming the file of certificates or tokens that is wrong.
  // `on_device_loss` is called for each call that a lost device fails, from any
  // thread: nothing but the end of the process helps.
  static absl::StatusOr<std::unique_ptr<Application>> Create(
      const Config& config, Backend backend,
      std::function<void(const absl::Status&)> on_device_loss);

  // With the ports that were picked for port 0.
  virtual const std::string& address() const = 0;
  virtual const std::string& metrics_address() const = 0;
  // Empty if there is no port for health alone.
  virtual std::string health_address() const = 0;

  // Brings the tables up in the background. On success the server is ready
  // when `done` runs; see TableStartup::Start.
  virtual void StartTables(std::function<void(absl::Status)> done) = 0;

  // Gives up bringing tables up. False if that is not over by `deadline`: the
  // application cannot be destroyed before it is.
  virtual bool CancelStartup(absl::Time deadline) = 0;

  // Not ready at once; after `delay` new calls are refused; returns when all
  // calls have ended, or have been cancelled after another `timeout`. New ones
  // are refused for as long as the application lives.
  virtual void Drain(absl::Duration delay, absl::Duration timeout) = 0;

  // For a process that ends without taking this apart: removes the files of
  // unix: addresses.
  virtual void RemoveSocketFiles() = 0;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_APPLICATION_H_
