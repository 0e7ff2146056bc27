// A process of this program's own that carries out orders, and the memory that
// it shares with the process that gives them.
#ifndef GATHERD_CLIENT_BENCH_WORKER_PROCESS_H_
#define GATHERD_CLIENT_BENCH_WORKER_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/bench/load_counters.h"

namespace gatherd::client {

// Travels as its bytes: both ends are the same program.
struct WorkerOrder {
  enum Kind : uint8_t { kPrepare, kRun };

  Kind kind = kPrepare;
  uint64_t rows = 0;       // kPrepare: keys are below it
  bool is_open = false;    // kRun: an open loop of so many calls/s
  double calls_per_s = 0;  // of this process
  int64_t start_ns = 0;    // of the steady clock, which processes share
};

class WorkerProcess {
 public:
  using Work = std::function<absl::Status(const WorkerOrder& order)>;

  // Forks: to be called before there are threads, and so before gRPC is used.
  // The child calls `work` for each order until this object is destroyed or
  // this process ends.
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Fork(Work work);

  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  absl::Status Send(const WorkerOrder& order);
  // Waits for what `work` returned to the last order.
  absl::Status Receive();

 private:
  WorkerProcess(pid_t pid, int socket) : pid_(pid), socket_(socket) {}

  const pid_t pid_;
  const int socket_;
};

// Counters in memory that this process shares with those it forks later.
class SharedCounters {
 public:
  static absl::StatusOr<std::unique_ptr<SharedCounters>> Map();

  SharedCounters(const SharedCounters&) = delete;
  SharedCounters& operator=(const SharedCounters&) = delete;
  ~SharedCounters();

  LoadCounters& operator*() const { return *counters_; }
  // All to zero, while nobody counts.
  void Reset();

 private:
  explicit SharedCounters(void* memory);

  LoadCounters* counters_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_WORKER_PROCESS_H_
