#include "client/bench/report.h"

#include <catch2/catch.hpp>
#include <vector>

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;

Run RunOf(double p99_us) {
  Run run;
  run.calls_per_s = 100;
  run.result.seconds = 2;
  run.result.lookups.num_calls = 150;
  run.result.lookups.num_keys = 1200;
  run.result.lookups.latency.p50_us = 10;
  run.result.lookups.latency.p99_us = p99_us;
  run.result.updates.latency.p99_us = -p99_us;
  return run;
}

}  // namespace

TEST_CASE("The median run is that of the median p99") {
  const std::vector<Run> runs = {RunOf(7), RunOf(900), RunOf(2), RunOf(30)};
  Workload reads;
  CHECK(MedianRun(reads, runs).result.lookups.latency.p99_us == 7);
  CHECK(&MedianRun(reads, absl::MakeConstSpan(runs).subspan(1, 1)) == &runs[1]);
  Workload writes;
  writes.read_fraction = 0;
  CHECK(MedianRun(writes, runs).result.updates.latency.p99_us == -30);
}

TEST_CASE("A line of CSV for each run") {
  std::vector<Run> runs = {RunOf(7), RunOf(8)};
  runs[1].calls_per_s.reset();
  runs[1].result.errors = {{"NOT_FOUND", 2}, {"UNAVAILABLE", 3}};
  runs[1].result.num_unsent = 4;
  const std::string csv = RunsCsv(Workload(), runs);
  CHECK_THAT(csv, Contains("\n100.0,75.0,600.0,0.0,10.0,0.0,7.0,0.0,0.0,0,0\n"
                           ",75.0,600.0,0.0,10.0,0.0,8.0,0.0,0.0,5,4\n"));
}

TEST_CASE("A text says how many processes there were") {
  Run run = RunOf(7);
  run.num_processes = 3;
  CHECK_THAT(RunText(run),
             Contains("open loop, 100 calls/s offered, 3 processes\n"));
  run.num_processes = 1;
  CHECK_THAT(RunText(run), Contains("open loop, 100 calls/s offered\n"));
}

}  // namespace gatherd::client
