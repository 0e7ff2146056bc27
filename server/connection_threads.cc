#include "server/connection_threads.h"

#include <iterator>
#include <system_error>
#include <utility>

namespace gatherd {
namespace {

// How often a full queue asks again for a thread that could not be had.
constexpr absl::Duration kRetryInterval = absl::Milliseconds(100);

}  // namespace

void ConnectionThreads::Enqueue(std::function<void()> task) {
  Threads ended;
  {
    absl::MutexLock lock(&mutex_);
    while (!mutex_.AwaitWithTimeout(
        absl::Condition(this, &ConnectionThreads::HasRoom), kRetryInterval)) {
      StartThreadIfNeeded();
    }
    tasks_.push_back(std::move(task));
    StartThreadIfNeeded();
    ended.swap(ended_);
  }
  for (std::thread& thread : ended) thread.join();
}

void ConnectionThreads::Shutdown() {
  Threads ended;
  std::deque<std::function<void()>> tasks;
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    mutex_.Await(absl::Condition(this, &ConnectionThreads::HasNoThread));
    ended.swap(ended_);
    tasks.swap(tasks_);
  }
  for (std::thread& thread : ended) thread.join();
  // There are some if not one thread could be had.
  for (const std::function<void()>& task : tasks) task();
}

size_t ConnectionThreads::num_threads() const {
  absl::MutexLock lock(&mutex_);
  return threads_.size();
}

size_t ConnectionThreads::num_idle() const {
  absl::MutexLock lock(&mutex_);
  return num_idle_;
}

void ConnectionThreads::StartThreadIfNeeded() {
  if (tasks_.size() <= num_idle_) return;
  if (threads_.size() >= options_.max_threads) return;
  const auto self = threads_.emplace(threads_.end());
  try {
    // It waits for the mutex, and so for its place in the list.
    *self = options_.start_thread([this, self] { Run(self); });
    ++num_idle_;
  } catch (const std::system_error&) {
    threads_.erase(self);  // the task waits for a thread that is there
  }
}

void ConnectionThreads::Run(Threads::iterator self) {
  mutex_.Lock();
  while (true) {
    mutex_.AwaitWithTimeout(absl::Condition(this, &ConnectionThreads::HasWork),
                            options_.idle_time);
    if (!tasks_.empty()) {
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      --num_idle_;
      mutex_.Unlock();
      task();
      mutex_.Lock();
      ++num_idle_;
    } else if (stopping_ || threads_.size() > options_.kept_threads) {
      break;
    }
  }
  --num_idle_;
  ended_.splice(ended_.end(), threads_, self);
  mutex_.Unlock();
}

bool ConnectionThreads::HasRoom() const {
  return tasks_.size() < options_.max_waiting;
}

bool ConnectionThreads::HasWork() const { return !tasks_.empty() || stopping_; }

bool ConnectionThreads::HasNoThread() const { return threads_.empty(); }

}  // namespace gatherd
