// Threads that run writes, in the order of submission. A write may wait for
// its turn at a table, so writes have threads of their own.
#ifndef GATHERD_CORE_EXEC_WRITE_POOL_H_
#define GATHERD_CORE_EXEC_WRITE_POOL_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "core/exec/job.h"

namespace gatherd {

class WritePool {
 public:
  explicit WritePool(int num_threads);
  ~WritePool() { Stop(); }

  WritePool(const WritePool&) = delete;
  WritePool& operator=(const WritePool&) = delete;

  void Submit(WriteJob* job);

  // Waits for running writes. Those not begun end with UNAVAILABLE, as does
  // every job submitted from then on. Call from one thread, none of the pool's.
  void Stop();

  // Jobs not begun.
  uint64_t num_queued() const {
    return num_queued_.load(std::memory_order_relaxed);
  }

 private:
  void RunThread();
  // The job to run or, if *status is not OK, to end. Blocks until there is
  // one; nullptr: the pool is stopping and nothing is queued.
  WriteJob* Take(absl::Status* status);

  // Changes under mutex_ alone; read by anyone, relaxed, as a figure.
  std::atomic<uint64_t> num_queued_{0};

  absl::Mutex mutex_;
  absl::CondVar has_work_;
  std::deque<WriteJob*> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::vector<std::thread> threads_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_WRITE_POOL_H_
