#include "server/ticker.h"

#include <utility>

#include "absl/time/clock.h"

namespace gatherd {

Ticker::Ticker(absl::Duration interval, std::function<void(absl::Time)> on_tick)
    : thread_([this, interval, on_tick = std::move(on_tick)] {
        while (!stop_.WaitForNotificationWithTimeout(interval)) {
          on_tick(absl::Now());
        }
      }) {}

Ticker::~Ticker() {
  stop_.Notify();
  thread_.join();
}

}  // namespace gatherd
