// A thread for what has to be looked at from time to time.
#ifndef GATHERD_SERVER_TICKER_H_
#define GATHERD_SERVER_TICKER_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "absl/time/time.h"

namespace gatherd {

// Keeps ticking when the system's clock is set back. Abseil's waits would last
// as much longer as it was set back, which is why there are none here.
class Ticker {
 public:
  // Calls `on_tick` with the time, an interval after the last call ended.
  Ticker(absl::Duration interval, std::function<void(absl::Time)> on_tick);
  // Waits for a call that runs.
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  // False: it is to stop.
  bool WaitFor(absl::Duration interval);

  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;  // the mutex's
  std::thread thread_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_TICKER_H_
