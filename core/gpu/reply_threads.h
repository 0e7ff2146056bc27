// Threads that end jobs: what a job's `done` does may take as long as sending
// its reply.
//
// One of those without work spins for a while, so that the next job need not
// wait for a thread to wake, which takes tens of microseconds; when it takes a
// job, it wakes the one that is to spin next.
#ifndef GATHERD_CORE_GPU_REPLY_THREADS_H_
#define GATHERD_CORE_GPU_REPLY_THREADS_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/exec/chunk_queue.h"

namespace gatherd {

class ReplyThreads {
 public:
  explicit ReplyThreads(int num_threads);
  // Ends all jobs that it was given.
  ~ReplyThreads();
  ReplyThreads(const ReplyThreads&) = delete;
  ReplyThreads& operator=(const ReplyThreads&) = delete;

  // FinishJob on one of the threads.
  void Finish(ChunkQueue::EndedJob ended);

 private:
  void Run();
  // The next job; false: the end.
  bool Take(ChunkQueue::EndedJob* ended);
  // Until there is a job, or for kSpin.
  void Spin() const;

  // ended_.size(), or 1 when stopping; for the thread that spins.
  std::atomic<size_t> num_pending_{0};

  absl::Mutex mutex_;
  absl::CondVar has_work_;
  std::deque<ChunkQueue::EndedJob> ended_ ABSL_GUARDED_BY(mutex_);
  int num_sleeping_ ABSL_GUARDED_BY(mutex_) = 0;
  bool one_spins_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_REPLY_THREADS_H_
