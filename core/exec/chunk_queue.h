// The lookup jobs of a dispatcher that have chunks to begin or running, in
// turns: a job of which a chunk was begun goes to the back if it has more. So
// jobs share what runs chunks evenly, and a short job waits for at most a chunk
// of every other.
//
// Not thread-safe: its owner guards it by a mutex, and calls FinishJob for the
// jobs that end without holding it.
#ifndef GATHERD_CORE_EXEC_CHUNK_QUEUE_H_
#define GATHERD_CORE_EXEC_CHUNK_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/exec/chunk_cursor.h"
#include "core/exec/job.h"

namespace gatherd {

class ChunkQueue {
 private:
  struct ActiveJob;

 public:
  // See ChunkCursor.
  ChunkQueue(uint64_t chunk_work, size_t chunk_segments)
      : chunk_work_(chunk_work), chunk_segments_(chunk_segments) {}

  // A chunk that runs. Its job lives until End.
  struct Task {
    LookupJob* job = nullptr;
    LookupChunk chunk;

   private:
    friend class ChunkQueue;
    ActiveJob* active = nullptr;  // nullptr: StartWhole's
  };
  // A job that is over: its status is what FinishJob wants.
  struct EndedJob {
    LookupJob* job;
    absl::Status status;
  };
  // A job that is answered in one piece and never stands in a queue. Sets what
  // Push and Take do.
  static Task StartWhole(LookupJob* job, absl::Time now);

  // One of both, or none.
  struct Next {
    std::optional<Task> task;
    std::optional<EndedJob> ended;
  };

  // Sets times.submitted, and all results to EmptyLookupResult().
  void Push(LookupJob* job);

  // The next chunk to run, or a job that ended without one: because it is not
  // wanted any more at `now`, or with `refusal` if that is not OK. Neither:
  // nothing is queued.
  Next Take(absl::Time now, const absl::Status& refusal);

  // The chunk is over; `part` is its result if the chunk is part of a segment.
  // The job, if that was its last chunk.
  std::optional<EndedJob> End(const Task& task, absl::Status status,
                              const LookupResult& part);

  bool empty() const { return first_ == nullptr; }
  // Jobs of which no chunk has begun.
  uint64_t num_queued() const { return num_queued_; }

 private:
  // Used again for other jobs.
  struct ActiveJob {
    LookupJob* job = nullptr;
    ChunkCursor cursor;
    absl::Status status;     // not OK: no further chunk is begun
    int num_running = 0;     // chunks
    bool is_queued = false;  // it has chunks to begin, or an end to be noticed
    bool has_started = false;
    ActiveJob* next = nullptr;  // in the queue or the free list
  };

  void CheckStart(ActiveJob& active, absl::Time now,
                  const absl::Status& refusal);
  std::optional<EndedJob> EndIfIdle(ActiveJob* active);
  ActiveJob* NewActiveJob();
  void PushBack(ActiveJob* active);
  ActiveJob* PopFront();

  const uint64_t chunk_work_;
  const size_t chunk_segments_;
  uint64_t num_queued_ = 0;
  std::deque<ActiveJob> active_jobs_;  // owns them
  ActiveJob* free_ = nullptr;
  ActiveJob* first_ = nullptr;
  ActiveJob* last_ = nullptr;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_CHUNK_QUEUE_H_
