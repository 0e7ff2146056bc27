// Runs lookups and writes of requests away from the threads that speak gRPC.
//
// A job is owned by its submitter, who keeps it alive until `done` runs; the
// dispatcher calls `done` exactly once, on any thread, possibly before Submit
// returns. Thread-safe.
#ifndef GATHERD_CORE_EXEC_DISPATCHER_H_
#define GATHERD_CORE_EXEC_DISPATCHER_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "core/exec/job.h"

namespace gatherd {

class Dispatcher {
 public:
  // Waits for what runs; jobs that were not answered yet end with UNAVAILABLE.
  // Not to be called from a job.
  virtual ~Dispatcher() = default;

  virtual void SubmitLookup(LookupJob* job) = 0;
  virtual void SubmitWrite(WriteJob* job) = 0;

  // Jobs submitted and not started yet.
  virtual uint64_t num_queued() const = 0;
};

// For the CPU backend: threads that take chunks of lookups in turns, so that a
// large request does not hold up small ones for its whole length. Whether a job
// is cancelled or late is looked at before each chunk.
struct ThreadDispatcherOptions {
  int num_lookup_threads = 0;  // 0: one a core
  int num_write_threads = 0;   // 0: half the cores, at least one
  // A request of at most this many keys is answered on the calling thread; not
  // set: DefaultInlineKeys. Here and below, a key whose row is wider than 512
  // bytes counts once for every 512 begun, an empty bag counts as a key.
  std::optional<uint64_t> inline_keys;
  // What one thread takes on at a time. One bag is never divided.
  uint64_t chunk_keys = 8192;
};

// 256, which take less than a hand-over costs. gRPC has at least two threads
// that call: on two cores these are enough to keep them busy, and a hand-over
// spreads nothing. There 4096 keys, a third of a millisecond, are answered
// inline: calls of 4096 rows of 256 bytes then cost the server 143 ns a key
// instead of 162.
uint64_t DefaultInlineKeys(int num_cores);

std::unique_ptr<Dispatcher> CreateThreadDispatcher(
    const ThreadDispatcherOptions& options);

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_DISPATCHER_H_
