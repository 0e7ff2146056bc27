// Watches the lookup batches of one device and tells when each has ended.
//
// A thread that spins while batches are under way and a little longer, then
// sleeps: to wake it takes tens of microseconds, more than a small lookup does.
#ifndef GATHERD_CORE_GPU_COMPLETER_H_
#define GATHERD_CORE_GPU_COMPLETER_H_

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "core/gpu/lookup_context.h"

namespace gatherd {

class Completer {
 public:
  // `end` is called for each batch, on the thread of this, with what
  // CheckDevices says if that is not OK.
  using EndFn = std::function<void(LookupContext*, const absl::Status&)>;
  explicit Completer(EndFn end);
  // Waits for every batch that is watched.
  ~Completer();
  Completer(const Completer&) = delete;
  Completer& operator=(const Completer&) = delete;

  // `context` has been launched. From any thread.
  void Watch(LookupContext* context);

 private:
  void Run();
  // Moves what is new to `running`. Blocks if asked to; false: the end.
  bool TakeNew(bool may_sleep, std::vector<LookupContext*>* running);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !new_.empty();
  }

  const EndFn end_;
  std::atomic<bool> has_new_{false};  // new_ is not empty; or stopping
  absl::Mutex mutex_;
  std::vector<LookupContext*> new_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_COMPLETER_H_
