// What a benchmark prints and writes: text for people, JSON for scripts.
#ifndef GATHERD_CLIENT_BENCH_REPORT_H_
#define GATHERD_CLIENT_BENCH_REPORT_H_

#include <optional>
#include <string>

#include "absl/types/span.h"
#include "client/bench/load.h"
#include "client/bench/workload.h"

namespace gatherd::client {

struct Run {
  std::optional<double> calls_per_s;  // what was offered; none: closed loop
  int num_callers = 0;
  LoadResult result;
};

// One line that says what is asked for.
std::string DescribeWorkload(const Workload& workload);

// A few lines, ending with a newline.
std::string RunText(const Run& run);

// One JSON object: {"workload": {...}, "runs": [...]}, with a newline.
std::string RunsJson(const Workload& workload, absl::Span<const Run> runs);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_REPORT_H_
