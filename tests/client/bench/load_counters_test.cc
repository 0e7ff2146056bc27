#include "client/bench/load_counters.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

namespace gatherd::client {
namespace {

constexpr int kNotFound = 5;
constexpr int kUnavailable = 14;

}  // namespace

TEST_CASE("Counters come to a result") {
  const auto counters = std::make_unique<LoadCounters>();
  counters->lookups().AddLatency(100'000);
  counters->lookups().AddAnswer(64, 16'384);
  counters->updates().AddLatency(7'000);
  counters->AddError(kUnavailable, "draining");
  counters->AddError(kNotFound, "no such table");
  counters->AddError(kUnavailable, "draining");
  counters->AddError(99, "of a later version");
  counters->AddShort();
  counters->AddUnsent();
  counters->AddCpu(0.25);
  const LoadResult result = counters->Result(2);
  CHECK(result.seconds == 2);
  CHECK(result.lookups.num_calls == 1);
  CHECK(result.lookups.num_keys == 64);
  CHECK(result.lookups.num_bytes == 16'384);
  CHECK(result.lookups.latency.max_us == 100);
  CHECK(result.updates.num_calls == 0);
  CHECK(result.updates.latency.mean_us == 7);
  CHECK(result.errors == std::map<std::string, uint64_t>{{"NOT_FOUND", 1},
                                                         {"UNAVAILABLE", 2},
                                                         {"UNKNOWN", 1}});
  CHECK(result.first_error == "draining");
  CHECK(result.num_short == 1);
  CHECK(result.num_unsent == 1);
  CHECK(result.client_cpu_s == Approx(0.25));
}

// Averages of percentiles would be wrong: half of all calls took 1 us and half
// 1 ms, so that p50 is 1 us, and p90 is 1 ms.
TEST_CASE("Counters of several processes are added, not averaged") {
  const auto sum = std::make_unique<LoadCounters>();
  for (const int us : {1, 1000}) {
    const auto part = std::make_unique<LoadCounters>();
    for (int i = 0; i < 100; ++i) {
      part->lookups().AddLatency(1000 * us);
      part->lookups().AddAnswer(8, 32);
    }
    part->AddError(kUnavailable, "of " + std::to_string(us));
    part->AddUnsent();
    part->AddCpu(1);
    sum->AddAll(*part);
  }
  const LoadResult result = sum->Result(1);
  CHECK(result.lookups.num_calls == 200);
  CHECK(result.lookups.num_keys == 1600);
  CHECK(result.lookups.num_bytes == 6400);
  CHECK(result.lookups.latency.p50_us == Approx(1).epsilon(0.01));
  CHECK(result.lookups.latency.p90_us == Approx(1000).epsilon(0.01));
  CHECK(result.lookups.latency.mean_us == 500.5);
  CHECK(result.errors == std::map<std::string, uint64_t>{{"UNAVAILABLE", 2}});
  CHECK(result.first_error == "of 1");
  CHECK(result.num_unsent == 2);
  CHECK(result.client_cpu_s == Approx(2));
}

TEST_CASE("A long message is cut") {
  const auto counters = std::make_unique<LoadCounters>();
  counters->AddError(kUnavailable, std::string(10'000, 'x'));
  CHECK(counters->Result(1).first_error == std::string(511, 'x'));
}

}  // namespace gatherd::client
