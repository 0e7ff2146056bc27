#include "server/ticker.h"

#include <utility>

#include "absl/time/clock.h"

namespace gatherd {

Ticker::Ticker(absl::Duration interval, std::function<void(absl::Time)> on_tick)
    : thread_([this, interval, on_tick = std::move(on_tick)] {
        while (WaitFor(interval)) on_tick(absl::Now());
      }) {}

Ticker::~Ticker() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_one();
  thread_.join();
}

bool Ticker::WaitFor(absl::Duration interval) {
  std::unique_lock<std::mutex> lock(mutex_);
  // By the steady clock, as wait_for() does.
  return !stopped_.wait_for(lock, absl::ToChronoNanoseconds(interval),
                            [this] { return stop_; });
}

}  // namespace gatherd
