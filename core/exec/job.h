// The work that a dispatcher is given: the lookups of one request, or a write.
#ifndef GATHERD_CORE_EXEC_JOB_H_
#define GATHERD_CORE_EXEC_JOB_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/device_index.h"
#include "core/table/batch.h"
#include "core/table/table.h"

namespace gatherd {

// One table's part of a lookup request.
struct LookupSegment {
  Table* table = nullptr;
  LookupBatch batch;
  LookupOutput output;
  LookupResult result;  // valid once the job is done with OK
};

struct StageTimes {  // of one job; infinite past: not reached
  absl::Time submitted = absl::InfinitePast();
  absl::Time started = absl::InfinitePast();
  absl::Time finished = absl::InfinitePast();
};

// `done` may destroy the job; nothing touches a job or its buffers afterwards.
struct LookupJob {
  std::vector<LookupSegment> segments;
  absl::Time deadline = absl::InfiniteFuture();
  std::atomic<bool> cancelled{false};  // set by anyone, at any time
  // The job that this is a part of, if it is one: they are cancelled together.
  const LookupJob* whole = nullptr;
  // Set: a self-test, which this device of several has to answer. It counts in
  // no statistics.
  std::optional<DeviceIndex> self_test_device;

  // Filled by the dispatcher.
  StageTimes times;
  // Jobs that were answered together, by one launch. One of them has their
  // number, so that launches can be counted, the others 0.
  uint32_t launch_requests = 1;
  // OK, DEADLINE_EXCEEDED, CANCELLED, UNAVAILABLE if the dispatcher is being
  // destroyed, or the first error of a table.
  std::function<void(absl::Status)> done;

  // Relaxed: the flag carries no other data, and a check that just misses it
  // costs one more chunk.
  bool is_cancelled() const {
    return cancelled.load(std::memory_order_relaxed) ||
           (whole != nullptr && whole->is_cancelled());
  }
};

// A write: `run` is called once on a thread that may block, unless the job
// was cancelled or late before it began.
struct WriteJob {
  std::function<absl::Status()> run;
  absl::Time deadline = absl::InfiniteFuture();
  std::atomic<bool> cancelled{false};
  StageTimes times;
  std::function<void(absl::Status)> done;

  bool is_cancelled() const {
    return cancelled.load(std::memory_order_relaxed);  // as of lookups
  }
};

// Whether the work of a job should go on at `now`: OK, CANCELLED or
// DEADLINE_EXCEEDED.
template <typename Job>
absl::Status CheckWanted(const Job& job, absl::Time now) {
  if (job.is_cancelled()) {
    return absl::CancelledError("the caller cancelled the request");
  }
  if (now > job.deadline) {
    return absl::DeadlineExceededError("the deadline passed before the answer");
  }
  return absl::OkStatus();
}

// Ends a job whose work is over. Touches it no more once `done` runs.
template <typename Job>
void FinishJob(Job* job, absl::Status status) {
  job->times.finished = absl::Now();
  // Out of the job first, which `done` may destroy.
  auto done = std::move(job->done);
  done(std::move(status));
}

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_JOB_H_
