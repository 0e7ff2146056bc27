// Threads that answer lookup jobs chunk by chunk.
//
// Jobs stand in one queue and take turns (chunk_queue.h). Several threads may
// run chunks of the same job.
//
// A thread without work sleeps at once. To wake it takes 3 to 5 us
// (tests/bench/dispatch_bench), a third of what the smallest lookup that comes
// here takes; spinning would take that and more from the threads of gRPC.
//
// One mutex guards the queue and the state of the jobs in it. It is never held
// while a table works or a job's `done` runs.
#ifndef GATHERD_CORE_EXEC_LOOKUP_POOL_H_
#define GATHERD_CORE_EXEC_LOOKUP_POOL_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "core/exec/chunk_queue.h"
#include "core/exec/job.h"

namespace gatherd {

class LookupPool {
 public:
  LookupPool(int num_threads, uint64_t chunk_work);
  ~LookupPool() { Stop(); }

  LookupPool(const LookupPool&) = delete;
  LookupPool& operator=(const LookupPool&) = delete;

  void Submit(LookupJob* job);

  // Waits for running chunks. Jobs that are not complete then end with
  // UNAVAILABLE, as does every job submitted from then on. Call from one
  // thread, none of the pool's.
  void Stop();

  // Jobs of which no chunk has begun.
  uint64_t num_queued() const {
    return num_queued_.load(std::memory_order_relaxed);
  }

 private:
  void RunThread();
  // The next chunk to run, or a job that ended without one. Blocks until there
  // is one; neither: the pool is stopping and nothing is queued.
  ChunkQueue::Next Take();
  std::optional<ChunkQueue::EndedJob> End(const ChunkQueue::Task& task,
                                          absl::Status status,
                                          const LookupResult& part);
  // After each change of the queue.
  void NoteQueued() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    num_queued_.store(queue_.num_queued(), std::memory_order_relaxed);
  }

  // Changes under mutex_ alone; read by anyone, relaxed, as a figure.
  std::atomic<uint64_t> num_queued_{0};

  absl::Mutex mutex_;
  absl::CondVar has_work_;
  ChunkQueue queue_ ABSL_GUARDED_BY(mutex_);
  int num_waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // threads without work
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_LOOKUP_POOL_H_
