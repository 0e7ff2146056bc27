// gatherbench's command line.
#ifndef GATHERD_CLIENT_BENCH_OPTIONS_H_
#define GATHERD_CLIENT_BENCH_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cli/flags.h"
#include "client/bench/load.h"
#include "client/bench/workload.h"
#include "client/client.h"

namespace gatherd::client {

struct BenchOptions {
  ClientOptions client;
  std::vector<std::string> tables;
  // Without tables, and with rows 0 if no flag says how many.
  Workload workload;
  // Without rate.
  LoadOptions load;
  int num_processes = 1;      // that make the load together
  std::vector<double> rates;  // calls/s of one run each; none: closed loop
  int num_rounds = 1;         // of all rates, one after the other
  bool fill = false;          // write all rows first
  bool verify = false;
  int num_writers = 2;
  int num_readers = 4;
  std::string json_path;  // empty: none
  std::string csv_path;
  std::string svg_path;
};

absl::Span<const FlagSpec> BenchFlags();
const char* BenchFlagsHelp();

// INVALID_ARGUMENT naming flag and reason.
absl::StatusOr<BenchOptions> ReadBenchOptions(const CommandLine& line);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_OPTIONS_H_
