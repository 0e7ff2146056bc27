#include "client/bench/options.h"

#include <catch2/catch.hpp>

#include "client/connection_flags.h"

namespace gatherd::client {
namespace {

absl::StatusOr<BenchOptions> Read(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "gatherbench");
  std::vector<FlagSpec> flags(ConnectionFlags().begin(),
                              ConnectionFlags().end());
  flags.insert(flags.end(), BenchFlags().begin(), BenchFlags().end());
  const auto line = CommandLine::Parse(static_cast<int>(arguments.size()),
                                       arguments.data(), flags);
  if (!line.ok()) return line.status();
  return ReadBenchOptions(*line);
}

}  // namespace

TEST_CASE("Flags become options") {
  const auto options =
      Read({"--tables=a,b", "--keys-per-call=4096", "--rows=10M", "--zipf=1.05",
            "--pooling=mean", "--hotness=8", "--output-type=float16",
            "--read-fraction=0.9", "--update-mode=add", "--rates=100,2e3",
            "--callers=7", "--channels=3", "--arrivals=even",
            "--duration=500ms", "--warmup=0", "--seed=9", "--svg=plot.svg",
            "--timeout=2s", "--address=unix:/tmp/socket"});
  REQUIRE(options.ok());
  CHECK(options->tables == std::vector<std::string>{"a", "b"});
  CHECK(options->workload.keys_per_call == 4096);
  CHECK(options->workload.rows == 10'000'000);
  CHECK(*options->workload.zipf == 1.05);
  CHECK(options->workload.pooling == Pooling::kMean);
  CHECK(options->workload.hotness == 8);
  CHECK(*options->workload.output_type == DataType::kFloat16);
  CHECK(options->workload.read_fraction == 0.9);
  CHECK(options->workload.update_mode == UpdateMode::kAdd);
  CHECK(options->rates == std::vector<double>{100, 2000});
  CHECK(options->load.num_callers == 7);
  CHECK(options->load.num_channels == 3);
  CHECK(options->load.arrivals == Arrivals::kEven);
  CHECK(options->load.duration == absl::Milliseconds(500));
  CHECK(options->load.warmup == absl::ZeroDuration());
  CHECK(options->load.timeout == absl::Seconds(2));
  CHECK(options->load.connection.address == "unix:/tmp/socket");
  CHECK(options->svg_path == "plot.svg");
}

TEST_CASE("A sweep is a list of rates") {
  const auto options = Read({"--tables=a", "--sweep=100:1000:4",
                             "--processes=3", "--csv=x.csv", "--svg=plot.svg"});
  REQUIRE(options.ok());
  CHECK(options->rates == std::vector<double>{100, 400, 700, 1000});
  CHECK(options->num_processes == 3);
  CHECK(options->load.num_callers == 1024);
  CHECK(options->csv_path == "x.csv");
}

TEST_CASE("Each process has a caller") {
  const auto options = Read({"--tables=a", "--processes=3"});
  REQUIRE(options.ok());
  CHECK(options->load.num_callers == 3);
  CHECK(options->load.num_channels == 3);
}

TEST_CASE("What no flag says has a default") {
  const auto closed = Read({"--tables=a"});
  REQUIRE(closed.ok());
  CHECK(closed->rates.empty());
  CHECK(closed->load.num_callers == 1);
  CHECK(closed->load.num_channels == 1);
  CHECK_FALSE(closed->workload.zipf.has_value());
  CHECK(closed->workload.rows == 0);
  const auto open = Read({"--tables=a", "--rate=100"});
  REQUIRE(open.ok());
  CHECK(open->load.num_callers == 1024);
  CHECK(open->load.num_channels == 16);
}

TEST_CASE("Flags that make no sense are refused") {
  for (const char* wrong : {"--zipf=1",
                            "--zipf=x",
                            "--rows=0",
                            "--rows=ten",
                            "--callers=0",
                            "--channels=0",
                            "--keys-per-call=-1",
                            "--pooling=max",
                            "--hotness=4",
                            "--output-type=double",
                            "--read-fraction=1.1",
                            "--processes=0",
                            "--processes=x",
                            "--sweep=",
                            "--sweep=1:2",
                            "--sweep=1:2:1",
                            "--sweep=1:2:1001",
                            "--sweep=2:1:5",
                            "--sweep=0:1:5",
                            "--sweep=1:2e9:5",
                            "--sweep=1:2:3:4",
                            "--rate=0",
                            "--rates=1,,2",
                            "--rates=nan",
                            "--arrivals=never",
                            "--duration=0",
                            "--warmup=-1s",
                            "--svg=x.svg",
                            "--update-mode=",
                            "--seed=x"}) {
    INFO(wrong);
    CHECK(absl::IsInvalidArgument(Read({"--tables=a", wrong}).status()));
  }
  CHECK(absl::IsInvalidArgument(Read({}).status()));
  CHECK(absl::IsInvalidArgument(Read({"--tables=a,b", "--verify"}).status()));
  CHECK(absl::IsInvalidArgument(
      Read({"--tables=a", "--rate=1", "--rates=1"}).status()));
}

}  // namespace gatherd::client
