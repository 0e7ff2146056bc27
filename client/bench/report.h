// What a benchmark prints and writes: text for people, JSON for scripts.
#ifndef GATHERD_CLIENT_BENCH_REPORT_H_
#define GATHERD_CLIENT_BENCH_REPORT_H_

#include <optional>
#include <string>

#include "absl/types/span.h"
#include "client/bench/load_counters.h"
#include "client/bench/workload.h"

namespace gatherd::client {

struct Run {
  std::optional<double> calls_per_s;  // what was offered; none: closed loop
  int num_callers = 0;
  int num_processes = 1;
  LoadResult result;
};

// One line that says what is asked for.
std::string DescribeWorkload(const Workload& workload);

// A few lines, ending with a newline.
std::string RunText(const Run& run);

// One JSON object: {"workload": {...}, "runs": [...]}, with a newline.
std::string RunsJson(const Workload& workload, absl::Span<const Run> runs);

// A line for each run, below one that names the columns. Latencies are those of
// lookups, or of updates where nothing is looked up.
std::string RunsCsv(const Workload& workload, absl::Span<const Run> runs);

// The latencies that plots and tables show.
const MethodResult& MainMethod(const Workload& workload,
                               const LoadResult& result);

// The one whose p99 is the median. At least one run.
const Run& MedianRun(const Workload& workload, absl::Span<const Run> runs);

// Answers of both kinds.
double AnsweredPerSecond(const LoadResult& result);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_REPORT_H_
