#include "client/bench/load.h"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/client/fake_server.h"

namespace gatherd::client {
namespace {

constexpr int kUnavailable = 14;

Workload Words(double read_fraction) {
  Workload workload;
  workload.tables.resize(1);
  workload.tables[0].name = "words";
  workload.tables[0].dim = 4;
  workload.keys_per_call = 8;
  workload.rows = 100;
  workload.read_fraction = read_fraction;
  return workload;
}

LoadOptions OptionsFor(const FakeServer& server) {
  LoadOptions options;
  options.connection.address = server.address();
  options.warmup = absl::ZeroDuration();
  options.duration = absl::Milliseconds(500);
  return options;
}

LoadResult Run(const LoadOptions& options, const Workload& workload) {
  const auto counters = std::make_unique<LoadCounters>();
  REQUIRE(RunLoad(options, Encode(workload), workload.read_fraction, *counters)
              .ok());
  return counters->Result(absl::ToDoubleSeconds(options.duration));
}

}  // namespace

TEST_CASE("A closed loop counts calls, keys and bytes") {
  FakeServer server;
  LoadOptions options = OptionsFor(server);
  options.num_callers = 3;
  options.num_channels = 2;
  const LoadResult result = Run(options, Words(1));
  CHECK(result.lookups.num_calls > 10);
  CHECK(result.lookups.num_keys == 8 * result.lookups.num_calls);
  CHECK(result.lookups.num_bytes >= 8 * 16 * result.lookups.num_calls);
  CHECK(result.lookups.latency.p50_us > 0);
  CHECK(result.lookups.latency.p50_us <= result.lookups.latency.p999_us);
  CHECK(result.lookups.latency.p999_us <= result.lookups.latency.max_us);
  CHECK(result.updates.num_calls == 0);
  CHECK(result.errors.empty());
  CHECK(result.num_short == 0);
  CHECK(result.client_cpu_s > 0);
  // Calls that end after the measured time are not counted.
  CHECK(server.num_calls() >= static_cast<int>(result.lookups.num_calls));
  CHECK(server.num_calls() <= static_cast<int>(result.lookups.num_calls) + 3);
}

TEST_CASE("A mix keeps lookups and updates apart") {
  FakeServer server;
  LoadOptions options = OptionsFor(server);
  options.num_callers = 2;
  const LoadResult result = Run(options, Words(0.5));
  CHECK(result.lookups.num_calls > 0);
  CHECK(result.updates.num_calls > 0);
  CHECK(result.errors.empty());
  CHECK_FALSE(server.GetTable("words").rows.empty());
}

TEST_CASE("Errors are counted by code and are no answers") {
  FakeServer server;
  server.FailNext(1'000'000, kUnavailable, "draining");
  const LoadResult result = Run(OptionsFor(server), Words(1));
  CHECK(result.lookups.num_calls == 0);
  CHECK(result.lookups.latency.p50_us > 0);
  REQUIRE(result.errors.size() == 1);
  CHECK(result.errors.at("UNAVAILABLE") > 0);
  CHECK(result.first_error == "draining");
}

TEST_CASE("An open loop keeps its rate") {
  FakeServer server;
  for (const Arrivals arrivals : {Arrivals::kEven, Arrivals::kPoisson}) {
    LoadOptions options = OptionsFor(server);
    options.num_callers = 100;
    options.num_channels = 2;
    options.calls_per_s = 200;
    options.arrivals = arrivals;
    const LoadResult result = Run(options, Words(1));
    CHECK(result.lookups.num_calls > 40);
    CHECK(result.lookups.num_calls < 180);
  }
}

// Coordinated omission: a generator that waits for a slow server before it
// sends, and starts its clock only then, reports 50 ms here.
TEST_CASE("A call that has to wait for its turn is charged for the wait") {
  FakeServer server;
  server.DelayCalls(50);
  LoadOptions options = OptionsFor(server);
  options.duration = absl::Seconds(1);
  options.num_callers = 1;  // so the server manages less than 20 calls/s
  options.calls_per_s = 100;
  options.arrivals = Arrivals::kEven;
  const LoadResult result = Run(options, Words(1));
  CHECK(result.lookups.num_calls <= 20);
  CHECK(result.lookups.num_calls + result.num_unsent >= 98);
  CHECK(result.lookups.num_calls + result.num_unsent <= 100);
  CHECK(result.lookups.latency.p50_us > 300'000);
}

TEST_CASE("A load starts when it is told to") {
  FakeServer server;
  LoadOptions options = OptionsFor(server);
  options.calls_per_s = 100;
  options.arrivals = Arrivals::kEven;
  const auto before = std::chrono::steady_clock::now();
  options.start = before + std::chrono::milliseconds(300);
  const LoadResult result = Run(options, Words(1));
  CHECK(std::chrono::steady_clock::now() - before >=
        std::chrono::milliseconds(750));
  CHECK(result.lookups.num_calls + result.num_unsent <= 51);
  CHECK(result.lookups.num_calls + result.num_unsent >= 45);
}

TEST_CASE("Options that make no sense are refused") {
  LoadOptions options;
  options.connection.address = "";
  const Workload workload = Words(1);
  const auto counters = std::make_unique<LoadCounters>();
  CHECK(absl::IsInvalidArgument(
      RunLoad(options, Encode(workload), 1, *counters)));
}

}  // namespace gatherd::client
