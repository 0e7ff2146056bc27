// Streams and events of FakeCuda. A stream does its work in the thread that
// enqueues it, at once, or in a thread of its own, in order.
#ifndef GATHERD_TESTS_CORE_CUDA_FAKE_STREAM_H_
#define GATHERD_TESTS_CORE_CUDA_FAKE_STREAM_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace gatherd {

enum class FakeStreams {
  kAtOnce,    // nothing is ever pending; allocates nothing
  kInThreads  // as on a GPU: enqueueing returns at once
};

// Any thread may call.
class FakeStream {
 public:
  FakeStream(int device, FakeStreams mode);
  FakeStream(const FakeStream&) = delete;
  FakeStream& operator=(const FakeStream&) = delete;
  ~FakeStream();  // after all that is enqueued

  int device() const { return device_; }
  bool is_at_once() const { return mode_ == FakeStreams::kAtOnce; }

  // `work` is called after this returns, unless it is done at once: it must
  // hold what it needs.
  template <typename Work>
  void Do(Work&& work) {
    if (is_at_once()) return std::forward<Work>(work)();
    Enqueue(std::forward<Work>(work));
  }
  bool IsIdle();
  void Synchronize();

 private:
  void Enqueue(std::function<void()> work);
  void Run();
  bool HasWorkOrEnds() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return !pending_.empty() || ends_;
  }
  bool HasNoWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return pending_.empty();
  }

  const int device_;
  const FakeStreams mode_;
  absl::Mutex mutex_;
  // The first is being done.
  std::deque<std::function<void()>> pending_ ABSL_GUARDED_BY(mutex_);
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Shared with the work of streams, which may outlive its handle.
class FakeEvent : public std::enable_shared_from_this<FakeEvent> {
 public:
  explicit FakeEvent(int device) : device_(device) {}

  int device() const { return device_; }

  void RecordOn(FakeStream& stream);
  // What is enqueued later waits for what was recorded last.
  void HoldUp(FakeStream& stream);
  bool HasPassed();
  void Synchronize();

 private:
  uint64_t LastRecord();
  void Pass(uint64_t record);
  void Await(uint64_t record);

  const int device_;
  absl::Mutex mutex_;
  uint64_t last_record_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t last_passed_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_CUDA_FAKE_STREAM_H_
