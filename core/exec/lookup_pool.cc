#include "core/exec/lookup_pool.h"

#include <limits>
#include <utility>

#include "absl/time/clock.h"
#include "core/exec/chunk_runner.h"

namespace gatherd {
namespace {

absl::Status Stopping() {
  return absl::UnavailableError("the server is stopping");
}

}  // namespace

LookupPool::LookupPool(int num_threads, uint64_t chunk_work)
    : queue_(chunk_work, std::numeric_limits<size_t>::max()) {
  threads_.reserve(num_threads);
  for (int i = 0; i < num_threads; ++i) {
    threads_.emplace_back([this] { RunThread(); });
  }
}

void LookupPool::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    has_work_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void LookupPool::Submit(LookupJob* job) {
  {
    absl::MutexLock lock(&mutex_);
    if (!stopping_) {
      queue_.Push(job);
      NoteQueued();
      // One thread is enough: it wakes the next if there is more to do.
      if (num_waiting_ > 0) has_work_.Signal();
      return;
    }
  }
  job->times.submitted = absl::Now();
  FinishJob(job, Stopping());
}

void LookupPool::RunThread() {
  ChunkRunner runner;
  while (true) {
    ChunkQueue::Next next = Take();
    if (next.task.has_value()) {
      LookupResult part;
      absl::Status status =
          runner.Run(*next.task->job, next.task->chunk, &part);
      next.ended = End(*next.task, std::move(status), part);
    } else if (!next.ended.has_value()) {
      return;
    }
    if (next.ended.has_value()) {
      FinishJob(next.ended->job, std::move(next.ended->status));
    }
  }
}

ChunkQueue::Next LookupPool::Take() {
  absl::MutexLock lock(&mutex_);
  while (true) {
    while (queue_.empty() && !stopping_) {
      ++num_waiting_;
      has_work_.Wait(&mutex_);
      --num_waiting_;
    }
    if (queue_.empty()) return {};
    ChunkQueue::Next next =
        queue_.Take(absl::Now(), stopping_ ? Stopping() : absl::OkStatus());
    NoteQueued();
    if (!queue_.empty() && num_waiting_ > 0) has_work_.Signal();
    if (next.task.has_value() || next.ended.has_value()) return next;
  }
}

std::optional<ChunkQueue::EndedJob> LookupPool::End(
    const ChunkQueue::Task& task, absl::Status status,
    const LookupResult& part) {
  absl::MutexLock lock(&mutex_);
  return queue_.End(task, std::move(status), part);
}

}  // namespace gatherd
