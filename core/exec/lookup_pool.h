// Threads that answer lookup jobs chunk by chunk.
//
// Jobs stand in one queue. A thread takes one chunk of the first job, which
// then goes to the back if it has more: so jobs share the threads evenly, and a
// short job waits for at most a chunk of every other. Several threads may run
// chunks of the same job.
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
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "core/exec/chunk_cursor.h"
#include "core/exec/chunk_runner.h"
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
  // A job that is queued or has running chunks. Used again for other jobs.
  struct ActiveJob {
    LookupJob* job = nullptr;
    ChunkCursor cursor;
    absl::Status status;     // not OK: no further chunk is begun
    int num_running = 0;     // chunks
    bool is_queued = false;  // it has chunks to begin, or an end to be noticed
    bool has_started = false;
    ActiveJob* next = nullptr;  // in the queue or the free list
  };
  struct Task {
    ActiveJob* active;
    LookupChunk chunk;
  };
  struct EndedJob {
    LookupJob* job;
    absl::Status status;
  };

  void RunThread();
  // The next chunk to run, or a job that ended without one. Blocks until there
  // is one; neither: the pool is stopping and nothing is queued.
  std::optional<Task> TakeChunk(std::optional<EndedJob>* ended);
  std::optional<EndedJob> EndChunk(const Task& task, absl::Status status,
                                   const LookupResult& part);

  void Push(ActiveJob* active) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ActiveJob* Pop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ActiveJob* NewActiveJob() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckStart(ActiveJob& active)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Hands out the job's end if it is neither queued nor running.
  std::optional<EndedJob> EndIfIdle(ActiveJob* active)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t chunk_work_;

  // Changes under mutex_ alone; read by anyone, relaxed, as a figure.
  std::atomic<uint64_t> num_queued_{0};

  absl::Mutex mutex_;
  absl::CondVar has_work_;
  std::deque<ActiveJob> active_jobs_ ABSL_GUARDED_BY(mutex_);  // owns them
  ActiveJob* free_ ABSL_GUARDED_BY(mutex_) = nullptr;
  ActiveJob* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  ActiveJob* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int num_waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // threads without work
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_LOOKUP_POOL_H_
