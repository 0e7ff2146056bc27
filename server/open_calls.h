// The calls of EmbeddingService that have not ended, so that draining can wait
// for them. An open stream is in flight, whether a message is or not.
// Thread-safe.
#ifndef GATHERD_SERVER_OPEN_CALLS_H_
#define GATHERD_SERVER_OPEN_CALLS_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace gatherd {

// A stream: a call that may be open without anything to do.
class IdlingCall {
 public:
  virtual ~IdlingCall() = default;

  // Ends the call if it is idle. Does not wait.
  virtual void EndIfIdle() = 0;
};

class OpenCalls {
 public:
  void Opened() { num_open_.fetch_add(1, std::memory_order_relaxed); }
  // The last thing that a call does.
  void Closed() { num_open_.fetch_sub(1, std::memory_order_release); }

  void AddStream(IdlingCall* stream);
  // Once it returns, nobody calls the stream any more.
  void RemoveStream(IdlingCall* stream);

  // Waits until no call is open: true, or until `deadline`, when it ends the
  // streams that are idle: false. New calls should be refused by then.
  bool Drain(absl::Time deadline);

 private:
  void EndIdleStreams();

  // Acquire/release: who sees zero sees all that the calls have done.
  std::atomic<int64_t> num_open_{0};
  absl::Mutex mutex_;
  absl::flat_hash_set<IdlingCall*> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_OPEN_CALLS_H_
