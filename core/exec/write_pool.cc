#include "core/exec/write_pool.h"

#include <utility>

#include "absl/time/clock.h"

namespace gatherd {

WritePool::WritePool(int num_threads) {
  threads_.reserve(num_threads);
  for (int i = 0; i < num_threads; ++i) {
    threads_.emplace_back([this] { RunThread(); });
  }
}

void WritePool::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    has_work_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WritePool::Submit(WriteJob* job) {
  job->times.submitted = absl::Now();
  {
    absl::MutexLock lock(&mutex_);
    if (!stopping_) {
      queue_.push_back(job);
      num_queued_.fetch_add(1, std::memory_order_relaxed);
      has_work_.Signal();
      return;
    }
  }
  FinishJob(job, absl::UnavailableError("the server is stopping"));
}

void WritePool::RunThread() {
  absl::Status status;
  while (WriteJob* job = Take(&status)) {
    if (status.ok()) status = CheckWanted(*job, absl::Now());
    if (status.ok()) {
      job->times.started = absl::Now();
      status = job->run();
    }
    FinishJob(job, std::move(status));
  }
}

WriteJob* WritePool::Take(absl::Status* status) {
  absl::MutexLock lock(&mutex_);
  while (queue_.empty() && !stopping_) has_work_.Wait(&mutex_);
  if (queue_.empty()) return nullptr;
  WriteJob* job = queue_.front();
  queue_.pop_front();
  num_queued_.fetch_sub(1, std::memory_order_relaxed);
  *status = stopping_ ? absl::UnavailableError("the server is stopping")
                      : absl::OkStatus();
  return job;
}

}  // namespace gatherd
