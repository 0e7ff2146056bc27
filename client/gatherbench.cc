// gatherbench: puts load on a running server and says what it bears.
// Exit codes: 0 done, 1 the server failed or a check did, 2 bad usage.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/flags.h"
#include "cli/version.h"
#include "client/bench/fill.h"
#include "client/bench/find_tables.h"
#include "client/bench/load_runner.h"
#include "client/bench/options.h"
#include "client/bench/plot.h"
#include "client/bench/report.h"
#include "client/bench/verify.h"
#include "client/channel.h"
#include "client/connection_flags.h"
#include "core/base/heap.h"

namespace gatherd::client {
namespace {

enum ExitCode { kDone = 0, kFailed = 1, kMisused = 2 };

// A run whose server answered less than this of the calls that were due has not
// kept up.
constexpr double kKeptUp = 0.97;

int Fail(ExitCode code, const absl::Status& status) {
  const std::string text =
      code == kMisused ? std::string(status.message()) : status.ToString();
  std::fprintf(stderr, "gatherbench: %s\n", text.c_str());
  return code;
}

std::string Help() {
  return absl::StrCat("usage: gatherbench --tables=A,B [FLAGS]\n\n",
                      BenchFlagsHelp(), ConnectionFlagsHelp(),
                      "  --help               print this\n"
                      "  --version            print the version\n");
}

uint64_t SmallestNumRows(const std::vector<TableInfo>& tables) {
  uint64_t rows = tables[0].num_rows;
  for (const TableInfo& table : tables) rows = std::min(rows, table.num_rows);
  return rows;
}

absl::Status CannotWrite(const std::string& path) {
  return absl::UnknownError("cannot write " + path);
}

// Before measuring: a path that is no good is then worth a message, not the
// results.
absl::Status CheckWritable(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  const std::ofstream file(path, std::ios::binary | std::ios::app);
  return file.fail() ? CannotWrite(path) : absl::OkStatus();
}

absl::Status Write(const std::string& path, const std::string& text) {
  if (path.empty()) return absl::OkStatus();
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file.fail() ? CannotWrite(path) : absl::OkStatus();
}

bool HasKeptUp(const LoadResult& result) {
  const auto share = [](uint64_t part, uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  return share(result.lookups.num_calls + result.updates.num_calls,
               result.lookups.num_due + result.updates.num_due) >= kKeptUp;
}

std::string Plot(const Workload& workload, const std::vector<Run>& runs) {
  std::vector<PlotPoint> points;
  for (const Run& run : runs) {
    points.push_back({*run.calls_per_s,
                      MainMethod(workload, run.result).latency,
                      HasKeptUp(run.result)});
  }
  std::sort(points.begin(), points.end(),
            [](const PlotPoint& a, const PlotPoint& b) {
              return a.calls_per_s < b.calls_per_s;
            });
  return LatencyPlot(DescribeWorkload(workload), points);
}

int Measure(const BenchOptions& options, const Workload& workload,
            LoadRunner& runner) {
  for (const std::string& path :
       {options.json_path, options.csv_path, options.svg_path}) {
    if (const absl::Status status = CheckWritable(path); !status.ok()) {
      return Fail(kFailed, status);
    }
  }
  std::printf("%s\n", DescribeWorkload(workload).c_str());
  if (absl::Status status = runner.Prepare(workload); !status.ok()) {
    return Fail(kFailed, status);
  }
  std::vector<std::optional<double>> rates(options.rates.begin(),
                                           options.rates.end());
  if (rates.empty()) rates.push_back(std::nullopt);

  std::vector<std::vector<Run>> runs_of(rates.size());
  bool is_answered = true;
  for (size_t i = 0; i < rates.size() * options.num_rounds; ++i) {
    const std::optional<double> rate = rates[i % rates.size()];
    std::vector<Run>& runs = runs_of[i % rates.size()];
    auto result = runner.Run(rate);
    if (!result.ok()) return Fail(kFailed, result.status());
    runs.push_back({rate, options.load.num_callers, options.num_processes,
                    *std::move(result)});
    std::fputs(RunText(runs.back()).c_str(), stdout);
    std::fflush(stdout);
    const LoadResult& last = runs.back().result;
    is_answered &= last.lookups.num_calls + last.updates.num_calls > 0 &&
                   last.num_short == 0;
  }
  std::vector<Run> runs;
  for (const std::vector<Run>& rounds : runs_of) {
    runs.push_back(MedianRun(workload, rounds));
  }
  for (const absl::Status& status :
       {Write(options.json_path, RunsJson(workload, runs)),
        Write(options.csv_path, RunsCsv(workload, runs)),
        Write(options.svg_path,
              options.svg_path.empty() ? "" : Plot(workload, runs))}) {
    if (!status.ok()) return Fail(kFailed, status);
  }
  return is_answered ? kDone : kFailed;
}

int Check(Client& client, const BenchOptions& options,
          const Workload& workload) {
  VerifyOptions verify;
  verify.table = workload.tables[0];
  verify.rows = workload.rows;
  verify.keys_per_call = workload.keys_per_call;
  verify.num_writers = options.num_writers;
  verify.num_readers = options.num_readers;
  verify.duration = options.load.duration;
  const absl::StatusOr<VerifyResult> result = Verify(client, verify);
  if (!result.ok()) return Fail(kFailed, result.status());
  std::fputs(VerifyText(*result).c_str(), stdout);
  return result->ok() && result->num_rows_checked > 0 ? kDone : kFailed;
}

int RunBench(const BenchOptions& options) {
  if (const std::string warning = ConnectionWarning(options.client.connection);
      !warning.empty()) {
    std::fprintf(stderr, "gatherbench: warning: %s\n", warning.c_str());
  }
  const auto runner = MakeLoadRunner(options);  // before gRPC has threads
  if (!runner.ok()) return Fail(kFailed, runner.status());
  const auto client = Client::Create(options.client);
  if (!client.ok()) return Fail(kMisused, client.status());
  auto tables = FindTables(**client, options.tables);
  if (!tables.ok()) return Fail(kFailed, tables.status());
  Workload workload = options.workload;
  workload.tables = *std::move(tables);
  if (workload.rows == 0) workload.rows = SmallestNumRows(workload.tables);
  if (workload.rows == 0) {
    return Fail(kMisused, absl::InvalidArgumentError(
                              "a table is empty: --rows says how many keys"));
  }
  if (options.verify) return Check(**client, options, workload);
  if (options.fill) {
    for (const TableInfo& table : workload.tables) {
      if (absl::Status status = Fill(**client, table, workload.rows);
          !status.ok()) {
        return Fail(kFailed, status);
      }
    }
  }
  return Measure(options, workload, **runner);
}

int Main(int argc, const char* const* argv) {
  std::vector<FlagSpec> flags(ConnectionFlags().begin(),
                              ConnectionFlags().end());
  flags.insert(flags.end(), BenchFlags().begin(), BenchFlags().end());
  flags.insert(flags.end(), {{"help", false}, {"version", false}});
  const auto line = CommandLine::Parse(argc, argv, flags);
  if (!line.ok()) return Fail(kMisused, line.status());
  if (line->Has("help")) {
    std::fputs(Help().c_str(), stdout);
    return kDone;
  }
  if (line->Has("version")) {
    std::printf("gatherbench %s\n", kGatherdVersion);
    return kDone;
  }
  if (!line->words().empty()) {
    return Fail(kMisused, absl::InvalidArgumentError(absl::StrCat(
                              "\"", line->words()[0], "\" is no flag")));
  }
  const absl::StatusOr<BenchOptions> options = ReadBenchOptions(*line);
  if (!options.ok()) return Fail(kMisused, options.status());
  return RunBench(*options);
}

}  // namespace
}  // namespace gatherd::client

int main(int argc, char** argv) {
  gatherd::KeepFreedMessageMemory();
  gatherd::client::SilenceGrpcLog();
  return gatherd::client::Main(argc, argv);
}
