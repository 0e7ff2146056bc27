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

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
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
};

struct LatencySummary {
  double mean_us = 0;
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double max_us = 0;
};

// What was measured of one kind of call.
struct MethodResult {
  uint64_t num_calls = 0;  // answered without error
  uint64_t num_keys = 0;   // of those
  uint64_t num_bytes = 0;  // of their replies (lookups) or requests (updates)
  LatencySummary latency;  // of all calls, failed ones included
};

struct LoadResult {
  double seconds = 0;
  MethodResult lookups;
  MethodResult updates;
  std::map<std::string, uint64_t> errors;  // by the name of their code
  std::string first_error;                 // its message
  uint64_t num_short = 0;   // replies that were too small for their rows
  uint64_t num_unsent = 0;  // open loop: due, but never sent
  double client_cpu_s = 0;  // spent by this process
};

// Blocks until the load is over. Nothing is retried.
absl::StatusOr<LoadResult> RunLoad(const LoadOptions& options,
                                   const EncodedRequests& requests,
                                   double read_fraction);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_LOAD_H_
