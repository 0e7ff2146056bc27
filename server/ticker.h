// A thread for what has to be looked at from time to time.
#ifndef GATHERD_SERVER_TICKER_H_
#define GATHERD_SERVER_TICKER_H_

#include <functional>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace gatherd {

class Ticker {
 public:
  // Calls `on_tick` with the time, an interval after the last call ended.
  Ticker(absl::Duration interval, std::function<void(absl::Time)> on_tick);
  // Waits for a call that runs.
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  absl::Notification stop_;
  std::thread thread_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_TICKER_H_
