// The real program against a fake server.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/version.h"
#include "tests/client/fake_server.h"
#include "tests/client/run_program.h"

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;
using Json = nlohmann::json;

ProgramResult Run(const FakeServer& server,
                  std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--address=" + server.address());
  return RunProgram("client/gatherbench", arguments);
}

}  // namespace

TEST_CASE("A closed loop is measured, printed and written") {
  FakeServer server;
  const std::string json_path = TemporaryPath("bench.json");
  const ProgramResult result =
      Run(server, {"--tables=words,items", "--rows=10", "--fill", "--callers=2",
                   "--keys-per-call=4", "--warmup=100ms", "--duration=300ms",
                   "--json=" + json_path});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("closed loop, 2 callers"));
  CHECK_THAT(result.out, Contains("keys/s"));
  CHECK(server.GetTable("words").rows.size() == 10);

  const Json json = Json::parse(ReadFile(json_path));
  CHECK(json["workload"]["tables"].size() == 2);
  REQUIRE(json["runs"].size() == 1);
  const Json& run = json["runs"][0];
  CHECK(run["loop"] == "closed");
  CHECK(run["lookup"]["calls"] > 0);
  CHECK(run["lookup"]["keys_per_s"].get<double>() ==
        Approx(8 * run["lookup"]["calls_per_s"].get<double>()));
  CHECK(run["lookup"]["latency_us"]["p99"] > 0);
  CHECK(run["errors"].empty());
}

TEST_CASE("A sweep of rates is plotted") {
  FakeServer server;
  const std::string svg_path = TemporaryPath("bench.svg");
  const ProgramResult result =
      Run(server, {"--tables=items", "--rates=50,100", "--warmup=0",
                   "--duration=200ms", "--svg=" + svg_path});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("open loop, 50 calls/s"));
  CHECK_THAT(result.out, Contains("open loop, 100 calls/s"));
  CHECK_THAT(ReadFile(svg_path), Contains("p99 at 100 calls/s"));
}

TEST_CASE("A file that cannot be written is refused before measuring") {
  FakeServer server;
  const ProgramResult result =
      Run(server, {"--tables=items", "--warmup=0", "--duration=200ms",
                   "--json=/there/is/none.json"});
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("cannot write /there/is/none.json"));
  CHECK(result.out.empty());
}

TEST_CASE("Of several rounds the median is written") {
  FakeServer server;
  const std::string json_path = TemporaryPath("bench.json");
  const ProgramResult result =
      Run(server, {"--tables=items", "--rates=50,100", "--rounds=3",
                   "--warmup=0", "--duration=400ms", "--json=" + json_path});
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
  size_t num_runs = 0;
  for (size_t at = 0;
       (at = result.out.find("open loop", at)) != std::string::npos; ++at) {
    ++num_runs;
  }
  CHECK(num_runs == 6);
  const Json runs = Json::parse(ReadFile(json_path))["runs"];
  REQUIRE(runs.size() == 2);
  CHECK(runs[0]["offered_calls_per_s"] == 50);
  CHECK(runs[1]["offered_calls_per_s"] == 100);
}

TEST_CASE("Several processes make one load") {
  FakeServer server;
  const std::string json_path = TemporaryPath("bench.json");
  const ProgramResult result =
      Run(server, {"--tables=words", "--rows=10", "--fill", "--processes=3",
                   "--callers=4", "--keys-per-call=4", "--warmup=0",
                   "--duration=500ms", "--json=" + json_path});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("closed loop, 4 callers, 3 processes"));
  const Json run = Json::parse(ReadFile(json_path))["runs"][0];
  CHECK(run["processes"] == 3);
  CHECK(run["lookup"]["calls"] > 0);
  CHECK(run["client_cpu_cores"] > 0);
  // All that were answered in time, and at most one more of each caller; what
  // the preparation asked is little.
  CHECK(run["lookup"]["calls"] <= server.num_calls());
  CHECK(run["lookup"]["calls"] >= server.num_calls() - 20);
}

TEST_CASE("Several processes share the rates of a sweep") {
  FakeServer server;
  const std::string csv_path = TemporaryPath("bench.csv");
  const ProgramResult result =
      Run(server, {"--tables=items", "--sweep=100:200:2", "--processes=2",
                   "--arrivals=even", "--warmup=0", "--duration=1s",
                   "--csv=" + csv_path});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  const std::string csv = ReadFile(csv_path);
  CHECK_THAT(csv, Contains("offered_calls_per_s,answered_calls_per_s"));
  CHECK_THAT(csv, Contains("\n100.0,"));
  CHECK_THAT(csv, Contains("\n200.0,"));
  for (const char* rate : {"\n100.0,", "\n200.0,"}) {
    const std::string line = csv.substr(csv.find(rate) + 1);
    const double offered = std::stod(line);
    const double answered = std::stod(line.substr(line.find(',') + 1));
    CHECK(answered > 0.5 * offered);
    CHECK(answered < 1.1 * offered);
  }
}

TEST_CASE("What one of several processes cannot do fails the run") {
  FakeServer server;
  const ProgramResult result =
      Run(server, {"--tables=words", "--rows=10", "--processes=2", "--warmup=0",
                   "--duration=100ms", "--callers=1"});
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Contains("--processes is more than --callers"));
}

TEST_CASE("The self-check's verdict is the exit code") {
  FakeServer server;
  const std::vector<std::string> flags = {"--tables=words", "--rows=8",
                                          "--verify", "--duration=300ms",
                                          "--keys-per-call=4"};
  CHECK(Run(server, flags).exit_code == 0);
  server.SpoilRows();
  const ProgramResult spoiled = Run(server, flags);
  CHECK(spoiled.exit_code == 1);
  CHECK_THAT(spoiled.out, Contains("of no version"));
}

TEST_CASE("Exit codes tell a server that fails from bad usage") {
  FakeServer server;
  CHECK(Run(server, {}).exit_code == 2);
  CHECK(Run(server, {"--tables=words", "more"}).exit_code == 2);
  CHECK(Run(server, {"--tables=words"}).exit_code == 2);  // it is empty
  CHECK(Run(server, {"--tables=nowhere"}).exit_code == 1);
  CHECK(Run(server, {"--help"}).exit_code == 0);
  CHECK(Run(server, {"--version"}).out ==
        std::string("gatherbench ") + kGatherdVersion + "\n");
  server.FailNext(1'000'000, 14, "draining");
  const ProgramResult result =
      Run(server, {"--tables=words", "--rows=8", "--timeout=1s"});
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("UNAVAILABLE: draining"));
}

}  // namespace gatherd::client
