#include "core/gpu/completer.h"

#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/gpu/cpu_pause.h"

namespace gatherd {
namespace {

// How long the thread looks for more before it sleeps.
constexpr absl::Duration kIdleSpin = absl::Microseconds(500);
// A batch that takes longer gives its core to others in between, and has its
// devices asked for errors from time to time.
constexpr absl::Duration kBusySpin = absl::Microseconds(100);
constexpr absl::Duration kCheckInterval = absl::Milliseconds(2);

}  // namespace

Completer::Completer(EndFn end)
    : end_(std::move(end)), thread_([this] { Run(); }) {}

Completer::~Completer() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    has_new_.store(true, std::memory_order_relaxed);
  }
  thread_.join();
}

void Completer::Watch(LookupContext* context) {
  // absl::Mutex wakes the thread if it waits for HasWork.
  absl::MutexLock lock(&mutex_);
  new_.push_back(context);
  has_new_.store(true, std::memory_order_relaxed);
}

bool Completer::TakeNew(bool may_sleep, std::vector<LookupContext*>* running) {
  // Relaxed: a hint; what counts is read under the mutex.
  if (!may_sleep && !has_new_.load(std::memory_order_relaxed)) return true;
  absl::MutexLock lock(&mutex_);
  if (may_sleep) mutex_.Await(absl::Condition(this, &Completer::HasWork));
  running->insert(running->end(), new_.begin(), new_.end());
  new_.clear();
  has_new_.store(stopping_, std::memory_order_relaxed);
  return !(stopping_ && running->empty());
}

void Completer::Run() {
  std::vector<LookupContext*> running;
  absl::Time last_end = absl::Now();
  absl::Time last_check = last_end;
  bool may_sleep = true;
  while (TakeNew(may_sleep, &running)) {
    may_sleep = false;
    const absl::Time now = absl::Now();
    const bool check = now - last_check > kCheckInterval;
    if (check) last_check = now;
    bool any_ended = false;
    for (size_t i = 0; i < running.size();) {
      LookupContext* const context = running[i];
      absl::Status status;
      if (!context->IsDone()) {
        if (check) status = context->CheckDevices();
        if (status.ok()) {
          ++i;
          continue;
        }
      }
      running[i] = running.back();
      running.pop_back();
      any_ended = true;
      end_(context, status);
    }
    if (any_ended) {
      last_end = absl::Now();
    } else if (running.empty()) {
      may_sleep = now - last_end > kIdleSpin;
      CpuPause();
    } else if (now - last_end > kBusySpin) {
      std::this_thread::yield();
    } else {
      CpuPause();
    }
  }
}

}  // namespace gatherd
