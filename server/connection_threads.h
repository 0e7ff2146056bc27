// Threads for work that may block: one for each task, as many as there are.
#ifndef GATHERD_SERVER_CONNECTION_THREADS_H_
#define GATHERD_SERVER_CONNECTION_THREADS_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace gatherd {

// Starts a thread for a task when none is idle. Idle ones end after a while but
// for a few. Where no more threads may be or can be had, tasks wait for one;
// where many wait, Enqueue() does.
class ConnectionThreads {
 public:
  struct Options {
    size_t max_threads = 1;
    size_t kept_threads = 1;
    size_t max_waiting = 1;
    absl::Duration idle_time = absl::Seconds(10);
    // May throw std::system_error, as std::thread does.
    std::function<std::thread(std::function<void()>)> start_thread =
        [](std::function<void()> run) { return std::thread(std::move(run)); };
  };

  explicit ConnectionThreads(Options options) : options_(std::move(options)) {}
  ~ConnectionThreads() { Shutdown(); }

  // Any thread, but not after Shutdown().
  void Enqueue(std::function<void()> task);
  // Returns once every task has run.
  void Shutdown();

  size_t num_threads() const;
  // Those of them that have no task.
  size_t num_idle() const;

 private:
  using Threads = std::list<std::thread>;

  void StartThreadIfNeeded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run(Threads::iterator self);
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasNoThread() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  mutable absl::Mutex mutex_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mutex_);
  Threads threads_ ABSL_GUARDED_BY(mutex_);
  // Past their last task, to be joined.
  Threads ended_ ABSL_GUARDED_BY(mutex_);
  // Without a task, among them those that were started or woken for one.
  size_t num_idle_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONNECTION_THREADS_H_
