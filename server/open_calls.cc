#include "server/open_calls.h"

#include "absl/time/clock.h"

namespace gatherd {
namespace {

// Calls are counted, not waited for one by one: that would put a lock into
// every call for the sake of the last second of the process.
constexpr absl::Duration kPollInterval = absl::Milliseconds(2);

}  // namespace

void OpenCalls::AddStream(IdlingCall* stream) {
  absl::MutexLock lock(&mutex_);
  streams_.insert(stream);
}

void OpenCalls::RemoveStream(IdlingCall* stream) {
  absl::MutexLock lock(&mutex_);
  streams_.erase(stream);
}

bool OpenCalls::Drain(absl::Time deadline) {
  while (num_open_.load(std::memory_order_acquire) > 0) {
    if (absl::Now() >= deadline) {
      EndIdleStreams();
      return false;
    }
    absl::SleepFor(kPollInterval);
  }
  return true;
}

void OpenCalls::EndIdleStreams() {
  absl::MutexLock lock(&mutex_);
  for (IdlingCall* stream : streams_) stream->EndIfIdle();
}

}  // namespace gatherd
