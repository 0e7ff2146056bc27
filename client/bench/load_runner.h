// Who makes the load of a benchmark: this process, or several of its own.
#ifndef GATHERD_CLIENT_BENCH_LOAD_RUNNER_H_
#define GATHERD_CLIENT_BENCH_LOAD_RUNNER_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/bench/load.h"
#include "client/bench/options.h"
#include "client/bench/workload.h"

namespace gatherd::client {

class LoadRunner {
 public:
  virtual ~LoadRunner() = default;

  // Makes the requests; before the first run.
  virtual absl::Status Prepare(const Workload& workload) = 0;

  // Blocks until a run is over. `calls_per_s` is offered by all processes
  // together; none: closed loop.
  virtual absl::StatusOr<LoadResult> Run(std::optional<double> calls_per_s) = 0;
};

// Forks if the options want several processes, so it is to be called before
// there are threads, and so before gRPC is used.
absl::StatusOr<std::unique_ptr<LoadRunner>> MakeLoadRunner(
    const BenchOptions& options);

// What process `index` of `num` does of a load: its part of the callers,
// connections and calls/s. Each process draws its own arrivals.
LoadOptions ShareOf(const LoadOptions& load, int index, int num);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_LOAD_RUNNER_H_
