// Runs lookups and writes of requests away from the threads that speak gRPC.
//
// A job is owned by its submitter, who keeps it alive until `done` runs; the
// dispatcher calls `done` exactly once, on any thread, possibly before Submit
// returns. Thread-safe.
#ifndef GATHERD_CORE_EXEC_DISPATCHER_H_
#define GATHERD_CORE_EXEC_DISPATCHER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
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

struct LookupJob {
  std::vector<LookupSegment> segments;
  absl::Time deadline = absl::InfiniteFuture();
  std::atomic<bool> cancelled{false};  // set by anyone, at any time
  StageTimes times;
  // OK, DEADLINE_EXCEEDED, CANCELLED, or the first error of a table.
  std::function<void(absl::Status)> done;
};

// A write: `run` is called once on a thread that may block, unless the job
// was cancelled or late before it began.
struct WriteJob {
  std::function<absl::Status()> run;
  absl::Time deadline = absl::InfiniteFuture();
  std::atomic<bool> cancelled{false};
  StageTimes times;
  std::function<void(absl::Status)> done;
};

class Dispatcher {
 public:
  virtual ~Dispatcher() = default;

  virtual void SubmitLookup(LookupJob* job) = 0;
  virtual void SubmitWrite(WriteJob* job) = 0;

  // Jobs submitted and not started yet.
  virtual uint64_t num_queued() const = 0;
};

// For the CPU backend: threads that take chunks of lookups in turns, so that a
// large request does not hold up small ones for its whole length.
struct ThreadDispatcherOptions {
  int num_lookup_threads = 0;  // 0: one a core
  int num_write_threads = 0;   // 0: half the cores, at least one
  // A request of at most this many keys (pooled ones by their keys, too)
  // is answered on the calling thread: a hand-over would cost more.
  uint64_t inline_keys = 256;
  uint64_t chunk_keys = 8192;
};
std::unique_ptr<Dispatcher> CreateThreadDispatcher(
    const ThreadDispatcherOptions& options);

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_DISPATCHER_H_
