// Puts load on a server and measures what comes back.
//
// Closed loop: each caller sends its next call when the last one is answered.
// Open loop: calls are due at times that do not depend on the server, and a
// latency counts from when its call was due, not from when it could be sent: a
// server that stalls is charged for every call that it kept waiting
// ("coordinated omission" cannot happen). Calls that were due but could not be
// sent before the end are counted, with the time they had waited by then.
#ifndef GATHERD_CLIENT_BENCH_LOAD_H_
#define GATHERD_CLIENT_BENCH_LOAD_H_

#include <chrono>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/bench/load_counters.h"
#include "client/bench/workload.h"
#include "client/channel.h"

namespace gatherd::client {

enum class Arrivals { kPoisson, kEven };

struct LoadOptions {
  ConnectionOptions connection;
  int num_channels = 1;  // connections
  // Closed loop: callers. Open loop: the most calls in flight.
  int num_callers = 1;
  std::optional<double> calls_per_s;  // none: closed loop
  Arrivals arrivals = Arrivals::kPoisson;
  absl::Duration warmup = absl::Seconds(1);  // not measured
  absl::Duration duration = absl::Seconds(10);
  absl::Duration timeout = absl::Seconds(10);  // of a call
  // Of the arrivals, and of which caller writes when.
  uint64_t seed = 1;
  // When the warm-up begins, if that is still to come: for processes that make
  // a load together. Arrivals are due from then on.
  std::chrono::steady_clock::time_point start = {};
};

// Blocks until the load is over, and adds to `counters`. Nothing is retried.
absl::Status RunLoad(const LoadOptions& options,
                     const EncodedRequests& requests, double read_fraction,
                     LoadCounters& counters);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_LOAD_H_
