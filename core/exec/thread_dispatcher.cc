#include <sched.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "core/exec/chunk_cursor.h"
#include "core/exec/chunk_runner.h"
#include "core/exec/dispatcher.h"
#include "core/exec/lookup_pool.h"
#include "core/exec/write_pool.h"

namespace gatherd {
namespace {

// Cores that this process may use.
int NumCores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) {
    return std::max(1, CPU_COUNT(&cores));
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

bool IsInline(const LookupJob& job, uint64_t inline_work) {
  uint64_t work = 0;
  for (const LookupSegment& segment : job.segments) {
    work += LookupWork(segment);
    if (work > inline_work) return false;
  }
  return true;
}

void RunInline(LookupJob* job) {
  const absl::Time now = absl::Now();
  job->times.submitted = now;
  absl::Status status = CheckWanted(*job, now);
  if (status.ok()) {
    job->times.started = now;
    LookupChunk all;
    all.last_segment = job->segments.size();
    status = ChunkRunner().Run(*job, all, /*part=*/nullptr);
  }
  FinishJob(job, std::move(status));
}

class ThreadDispatcher : public Dispatcher {
 public:
  explicit ThreadDispatcher(const ThreadDispatcherOptions& options)
      : inline_work_(
            options.inline_keys.value_or(DefaultInlineKeys(NumCores()))),
        lookups_(options.num_lookup_threads,
                 std::max<uint64_t>(1, options.chunk_keys)),
        writes_(options.num_write_threads) {}

  // Both before either goes: the last jobs of one may submit to the other.
  ~ThreadDispatcher() override {
    lookups_.Stop();
    writes_.Stop();
  }

  void SubmitLookup(LookupJob* job) override {
    // A job of nothing is inline at any limit: the pool wants a chunk of each.
    if (job->segments.empty() || IsInline(*job, inline_work_)) {
      RunInline(job);
    } else {
      lookups_.Submit(job);
    }
  }

  void SubmitWrite(WriteJob* job) override { writes_.Submit(job); }

  uint64_t num_queued() const override {
    return lookups_.num_queued() + writes_.num_queued();
  }

 private:
  const uint64_t inline_work_;
  LookupPool lookups_;
  WritePool writes_;
};

}  // namespace

uint64_t DefaultInlineKeys(int num_cores) {
  return num_cores <= 2 ? 4096 : 256;
}

std::unique_ptr<Dispatcher> CreateThreadDispatcher(
    const ThreadDispatcherOptions& options) {
  ThreadDispatcherOptions filled = options;
  if (filled.num_lookup_threads == 0) filled.num_lookup_threads = NumCores();
  if (filled.num_write_threads == 0) {
    filled.num_write_threads = std::max(1, NumCores() / 2);
  }
  return std::make_unique<ThreadDispatcher>(filled);
}

}  // namespace gatherd
