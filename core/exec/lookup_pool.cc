#include "core/exec/lookup_pool.h"

#include <utility>

#include "absl/time/clock.h"

namespace gatherd {

LookupPool::LookupPool(int num_threads, uint64_t chunk_work)
    : chunk_work_(chunk_work) {
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
  job->times.submitted = absl::Now();
  for (LookupSegment& segment : job->segments) {
    segment.result = EmptyLookupResult();
  }
  {
    absl::MutexLock lock(&mutex_);
    if (!stopping_) {
      ActiveJob* active = NewActiveJob();
      active->job = job;
      active->cursor = ChunkCursor(*job, chunk_work_);
      Push(active);
      num_queued_.fetch_add(1, std::memory_order_relaxed);
      // One thread is enough: it wakes the next if there is more to do.
      if (num_waiting_ > 0) has_work_.Signal();
      return;
    }
  }
  FinishJob(job, absl::UnavailableError("the server is stopping"));
}

void LookupPool::RunThread() {
  ChunkRunner runner;
  while (true) {
    std::optional<EndedJob> ended;
    std::optional<Task> task = TakeChunk(&ended);
    if (task.has_value()) {
      LookupResult part;
      absl::Status status = runner.Run(*task->active->job, task->chunk, &part);
      ended = EndChunk(*task, std::move(status), part);
    } else if (!ended.has_value()) {
      return;
    }
    if (ended.has_value()) FinishJob(ended->job, std::move(ended->status));
  }
}

std::optional<LookupPool::Task> LookupPool::TakeChunk(
    std::optional<EndedJob>* ended) {
  absl::MutexLock lock(&mutex_);
  while (true) {
    while (first_ == nullptr && !stopping_) {
      ++num_waiting_;
      has_work_.Wait(&mutex_);
      --num_waiting_;
    }
    if (first_ == nullptr) return std::nullopt;

    ActiveJob* active = Pop();
    if (active->status.ok()) active->status = CheckStart(*active);
    if (!active->status.ok()) {
      *ended = EndIfIdle(active);
      if (ended->has_value()) return std::nullopt;
      continue;  // its last running chunk ends it
    }
    const Task task = {active, active->cursor.Next()};
    ++active->num_running;
    if (!active->cursor.AtEnd()) Push(active);
    if (first_ != nullptr && num_waiting_ > 0) has_work_.Signal();
    return task;
  }
}

std::optional<LookupPool::EndedJob> LookupPool::EndChunk(
    const Task& task, absl::Status status, const LookupResult& part) {
  absl::MutexLock lock(&mutex_);
  ActiveJob* active = task.active;
  --active->num_running;
  if (!status.ok()) {
    if (active->status.ok()) active->status = std::move(status);
  } else if (task.chunk.is_part) {
    MergeLookupResult(part,
                      &active->job->segments[task.chunk.first_segment].result);
  }
  return EndIfIdle(active);
}

absl::Status LookupPool::CheckStart(ActiveJob& active) {
  if (!active.has_started) {
    active.has_started = true;
    num_queued_.fetch_sub(1, std::memory_order_relaxed);
    if (!stopping_) active.job->times.started = absl::Now();
  }
  if (stopping_) return absl::UnavailableError("the server is stopping");
  return CheckWanted(*active.job, absl::Now());
}

std::optional<LookupPool::EndedJob> LookupPool::EndIfIdle(ActiveJob* active) {
  if (active->is_queued || active->num_running > 0) return std::nullopt;
  EndedJob ended = {active->job, std::move(active->status)};
  *active = ActiveJob();
  active->next = free_;
  free_ = active;
  return ended;
}

LookupPool::ActiveJob* LookupPool::NewActiveJob() {
  if (free_ == nullptr) return &active_jobs_.emplace_back();
  ActiveJob* active = free_;
  free_ = active->next;
  active->next = nullptr;
  return active;
}

void LookupPool::Push(ActiveJob* active) {
  active->is_queued = true;
  (last_ == nullptr ? first_ : last_->next) = active;
  last_ = active;
}

LookupPool::ActiveJob* LookupPool::Pop() {
  ActiveJob* active = first_;
  first_ = active->next;
  if (first_ == nullptr) last_ = nullptr;
  active->next = nullptr;
  active->is_queued = false;
  return active;
}

}  // namespace gatherd
