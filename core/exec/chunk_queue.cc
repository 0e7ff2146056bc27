#include "core/exec/chunk_queue.h"

#include <utility>

#include "absl/time/clock.h"
#include "core/exec/chunk_runner.h"

namespace gatherd {

void ChunkQueue::Push(LookupJob* job) {
  job->times.submitted = absl::Now();
  for (LookupSegment& segment : job->segments) {
    segment.result = EmptyLookupResult();
  }
  ActiveJob* active = NewActiveJob();
  active->job = job;
  active->cursor = ChunkCursor(*job, chunk_work_, chunk_segments_);
  PushBack(active);
  ++num_queued_;
}

ChunkQueue::Task ChunkQueue::StartWhole(LookupJob* job, absl::Time now) {
  job->times.submitted = now;
  job->times.started = now;
  for (LookupSegment& segment : job->segments) {
    segment.result = EmptyLookupResult();
  }
  Task task;
  task.job = job;
  task.chunk.last_segment = job->segments.size();
  return task;
}

ChunkQueue::Next ChunkQueue::Take(absl::Time now, const absl::Status& refusal) {
  Next next;
  while (first_ != nullptr) {
    ActiveJob* active = PopFront();
    if (active->status.ok()) CheckStart(*active, now, refusal);
    if (!active->status.ok()) {
      next.ended = EndIfIdle(active);
      if (next.ended.has_value()) return next;
      continue;  // its last running chunk ends it
    }
    Task task;
    task.job = active->job;
    task.chunk = active->cursor.Next();
    task.active = active;
    ++active->num_running;
    if (!active->cursor.AtEnd()) PushBack(active);
    next.task = task;
    return next;
  }
  return next;
}

std::optional<ChunkQueue::EndedJob> ChunkQueue::End(const Task& task,
                                                    absl::Status status,
                                                    const LookupResult& part) {
  ActiveJob* active = task.active;
  if (active == nullptr) return EndedJob{task.job, std::move(status)};
  --active->num_running;
  if (!status.ok()) {
    if (active->status.ok()) active->status = std::move(status);
  } else if (task.chunk.is_part) {
    MergeLookupResult(part,
                      &active->job->segments[task.chunk.first_segment].result);
  }
  return EndIfIdle(active);
}

void ChunkQueue::CheckStart(ActiveJob& active, absl::Time now,
                            const absl::Status& refusal) {
  if (!active.has_started) {
    active.has_started = true;
    --num_queued_;
    if (refusal.ok()) active.job->times.started = now;
  }
  active.status = refusal.ok() ? CheckWanted(*active.job, now) : refusal;
}

std::optional<ChunkQueue::EndedJob> ChunkQueue::EndIfIdle(ActiveJob* active) {
  if (active->is_queued || active->num_running > 0) return std::nullopt;
  EndedJob ended = {active->job, std::move(active->status)};
  *active = ActiveJob();
  active->next = free_;
  free_ = active;
  return ended;
}

ChunkQueue::ActiveJob* ChunkQueue::NewActiveJob() {
  if (free_ == nullptr) return &active_jobs_.emplace_back();
  ActiveJob* active = free_;
  free_ = active->next;
  active->next = nullptr;
  return active;
}

void ChunkQueue::PushBack(ActiveJob* active) {
  active->is_queued = true;
  (last_ == nullptr ? first_ : last_->next) = active;
  last_ = active;
}

ChunkQueue::ActiveJob* ChunkQueue::PopFront() {
  ActiveJob* active = first_;
  first_ = active->next;
  if (first_ == nullptr) last_ = nullptr;
  active->next = nullptr;
  active->is_queued = false;
  return active;
}

}  // namespace gatherd
