// Threads that end jobs: what a job's `done` does may take as long as sending
// its reply.
#ifndef GATHERD_CORE_GPU_REPLY_THREADS_H_
#define GATHERD_CORE_GPU_REPLY_THREADS_H_

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
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !ended_.empty();
  }

  absl::Mutex mutex_;
  std::deque<ChunkQueue::EndedJob> ended_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_REPLY_THREADS_H_
