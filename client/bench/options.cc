#include "client/bench/options.h"

#include <limits>
#include <utility>

#include "absl/strings/str_split.h"
#include "client/bench/flag_reader.h"
#include "client/connection_flags.h"

namespace gatherd::client {
namespace {

constexpr FlagSpec kFlags[] = {
    {"arrivals"},      {"callers"},     {"channels"},    {"csv"},
    {"duration"},      {"fill", false}, {"hotness"},     {"json"},
    {"keys-per-call"}, {"output-type"}, {"pooling"},     {"processes"},
    {"rate"},          {"rates"},       {"rounds"},      {"readers"},
    {"read-fraction"}, {"rows"},        {"seed"},        {"svg"},
    {"sweep"},         {"tables"},      {"update-mode"}, {"verify", false},
    {"warmup"},        {"writers"},     {"zipf"},
};

constexpr char kHelp[] =
    R"(  --tables=A,B           tables that every call asks; demanded
  --keys-per-call=N      keys of each table in a call (default 256)
  --rows=N               keys are in [0, N); K, M, G (default: the rows that
                         the smallest of the tables has)
  --zipf=S               Zipf with exponent S > 1 instead of uniform keys
  --pooling=sum|mean     pooled lookups
  --hotness=N            keys of a bag (default 64)
  --output-type=T        float32, float16, bfloat16, int8 (default: the table's)
  --read-fraction=F      share of lookups; the other calls are updates (1)
  --update-mode=M        set, add, set_existing (set)
  --fill                 write all rows first
  --callers=N            closed loop: callers (default: one a process); open
                         loop: the most calls in flight (1024)
  --channels=N           connections (default: one a caller, at most 16)
  --processes=N          processes that make the load together; callers,
                         connections and calls/s are of all of them (1)
  --rate=R               open loop: R calls/s, timed from when each is due
  --rates=R1,R2,...      one open loop after the other
  --sweep=LO:HI:STEPS    the same with so many rates, evenly from LO to HI
  --rounds=N             all of these N times in turn; of each, the run with the
                         median p99 is written and plotted (1)
  --arrivals=A           poisson or even (poisson)
  --warmup=D             before what is measured (default 1s)
  --duration=D           what is measured, of each run (default 10s)
  --seed=N               of keys and values (1)
  --json=FILE            write the results as JSON
  --csv=FILE             write a line for each run
  --svg=FILE             plot latency against load; needs --rates or --sweep
  --verify               check instead of measure: writers and readers of
                         self-describing rows; overwrites keys [0, rows)
  --writers=N            of --verify (2)
  --readers=N            of --verify (4)
)";

constexpr int kMaxCallers = 100'000;
constexpr int kDefaultOpenCallers = 1024;
constexpr int kDefaultMaxChannels = 16;
constexpr int kMaxProcesses = 1000;
constexpr int kMaxRounds = 1000;
constexpr size_t kDefaultHotness = 64;
constexpr double kMinRate = 1e-3;  // calls/s
constexpr double kMaxRate = 1e9;

Workload ReadWorkload(FlagReader& flags) {
  Workload workload;
  workload.keys_per_call = static_cast<size_t>(
      flags.Int("keys-per-call", 256, 0, std::numeric_limits<int>::max()));
  workload.rows = flags.Rows("rows");
  if (flags.Has("zipf")) {
    workload.zipf = flags.Double("zipf", 0, 1.0001, 100,
                                 "allowed is a number above 1, up to 100");
  }
  workload.pooling = flags.Choice<Pooling>("pooling", Pooling::kNone,
                                           {{"none", Pooling::kNone},
                                            {"sum", Pooling::kSum},
                                            {"mean", Pooling::kMean}});
  const bool is_pooled = workload.pooling != Pooling::kNone;
  workload.hotness =
      static_cast<size_t>(flags.Int("hotness", is_pooled ? kDefaultHotness : 1,
                                    1, std::numeric_limits<int>::max()));
  if (flags.Has("hotness") && !is_pooled) {
    flags.Refuse("--hotness goes with --pooling");
  }
  if (flags.Has("output-type")) {
    workload.output_type =
        flags.Choice<DataType>("output-type", DataType::kFloat32,
                               {{"float32", DataType::kFloat32},
                                {"float16", DataType::kFloat16},
                                {"bfloat16", DataType::kBFloat16},
                                {"int8", DataType::kInt8}});
  }
  workload.read_fraction =
      flags.Double("read-fraction", 1, 0, 1, "allowed is a number from 0 to 1");
  workload.update_mode =
      flags.Choice<UpdateMode>("update-mode", UpdateMode::kSet,
                               {{"set", UpdateMode::kSet},
                                {"add", UpdateMode::kAdd},
                                {"set_existing", UpdateMode::kSetExisting}});
  workload.seed = static_cast<uint64_t>(
      flags.Int("seed", 1, 0, std::numeric_limits<int>::max()));
  return workload;
}

LoadOptions ReadLoad(FlagReader& flags, bool is_open, int num_processes) {
  LoadOptions load;
  load.num_callers = flags.Int(
      "callers", is_open ? kDefaultOpenCallers : num_processes, 1, kMaxCallers);
  if (load.num_callers < num_processes) {
    flags.Refuse("--processes is more than --callers");
  }
  load.num_channels =
      flags.Int("channels", std::min(load.num_callers, kDefaultMaxChannels), 1,
                kMaxCallers);
  load.arrivals = flags.Choice<Arrivals>(
      "arrivals", Arrivals::kPoisson,
      {{"poisson", Arrivals::kPoisson}, {"even", Arrivals::kEven}});
  load.warmup = flags.Duration("warmup", load.warmup, absl::ZeroDuration());
  load.duration =
      flags.Duration("duration", load.duration, absl::Milliseconds(1));
  return load;
}

std::vector<double> ReadRates(FlagReader& flags) {
  constexpr char kAllowed[] = "allowed are calls/s above 0";
  if (flags.Has("rate") + flags.Has("rates") + flags.Has("sweep") > 1) {
    flags.Refuse("--rate, --rates and --sweep exclude each other");
  }
  if (flags.Has("rate")) {
    return {flags.Double("rate", 0, kMinRate, kMaxRate, kAllowed)};
  }
  if (flags.Has("sweep")) {
    return flags.Sweep("sweep", kMinRate, kMaxRate,
                       "allowed is LO:HI:STEPS, calls/s above 0, HI above LO, "
                       "2 to 1000 steps");
  }
  return flags.Doubles("rates", kMinRate, kMaxRate, kAllowed);
}

}  // namespace

absl::Span<const FlagSpec> BenchFlags() { return kFlags; }

const char* BenchFlagsHelp() { return kHelp; }

absl::StatusOr<BenchOptions> ReadBenchOptions(const CommandLine& line) {
  absl::StatusOr<ClientOptions> client = ReadConnectionFlags(line);
  if (!client.ok()) return client.status();
  FlagReader flags(line);
  BenchOptions options;
  options.client = *std::move(client);
  options.tables =
      absl::StrSplit(flags.Text("tables", ""), ',', absl::SkipEmpty());
  options.workload = ReadWorkload(flags);
  options.rates = ReadRates(flags);
  options.num_rounds = flags.Int("rounds", 1, 1, kMaxRounds);
  options.num_processes = flags.Int("processes", 1, 1, kMaxProcesses);
  options.load = ReadLoad(flags, !options.rates.empty(), options.num_processes);
  options.load.connection = options.client.connection;
  options.load.timeout = options.client.timeout;
  options.fill = flags.Has("fill");
  options.verify = flags.Has("verify");
  options.num_writers = flags.Int("writers", 2, 0, 1000);
  options.num_readers = flags.Int("readers", 4, 0, 1000);
  options.json_path = flags.Text("json", "");
  options.csv_path = flags.Text("csv", "");
  options.svg_path = flags.Text("svg", "");
  if (options.tables.empty()) flags.Refuse("--tables is missing");
  if (options.verify && options.tables.size() != 1) {
    flags.Refuse("--verify takes one table");
  }
  if (options.verify && options.num_processes > 1) {
    flags.Refuse("--verify and --processes exclude each other");
  }
  if (flags.Has("svg") && !flags.Has("rates") && !flags.Has("sweep")) {
    flags.Refuse("--svg needs --rates or --sweep");
  }
  if (!flags.status().ok()) return flags.status();
  return options;
}

}  // namespace gatherd::client
