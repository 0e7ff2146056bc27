#include "client/bench/options.h"

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/units.h"
#include "client/connection_flags.h"

namespace gatherd::client {
namespace {

constexpr FlagSpec kFlags[] = {
    {"arrivals"},    {"callers"},       {"channels"},    {"duration"},
    {"fill", false}, {"hotness"},       {"json"},        {"keys-per-call"},
    {"output-type"}, {"pooling"},       {"rate"},        {"rates"},
    {"readers"},     {"read-fraction"}, {"rows"},        {"seed"},
    {"svg"},         {"tables"},        {"update-mode"}, {"verify", false},
    {"warmup"},      {"writers"},       {"zipf"},
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
  --callers=N            closed loop: callers (default 1); open loop: the most
                         calls in flight (1024)
  --channels=N           connections (default: one a caller, at most 16)
  --rate=R               open loop: R calls/s, timed from when each is due
  --rates=R1,R2,...      one open loop after the other
  --arrivals=A           poisson or even (poisson)
  --warmup=D             before what is measured (default 1s)
  --duration=D           what is measured, of each run (default 10s)
  --seed=N               of keys and values (1)
  --json=FILE            write the results as JSON
  --svg=FILE             plot latency against load; needs --rates
  --verify               check instead of measure: writers and readers of
                         self-describing rows; overwrites keys [0, rows)
  --writers=N            of --verify (2)
  --readers=N            of --verify (4)
)";

constexpr int kMaxCallers = 100'000;
constexpr int kDefaultOpenCallers = 1024;
constexpr int kDefaultMaxChannels = 16;
constexpr size_t kDefaultHotness = 64;

// Reads flags one by one and keeps the first thing that is wrong.
class FlagReader {
 public:
  explicit FlagReader(const CommandLine& line) : line_(line) {}

  const absl::Status& status() const { return status_; }
  bool Has(const char* name) const { return line_.Has(name); }

  std::string Text(const char* name, std::string otherwise) const {
    return line_.Get(name).value_or(std::move(otherwise));
  }

  int Int(const char* name, int otherwise, int min, int max) {
    int value = otherwise;
    if (const auto text = line_.Get(name);
        text.has_value() &&
        (!absl::SimpleAtoi(*text, &value) || value < min || value > max)) {
      Refuse(name, *text,
             absl::StrCat("allowed is a number from ", min, " to ", max));
    }
    return value;
  }

  double Double(const char* name, double otherwise, double min, double max,
                const char* allowed) {
    const auto text = line_.Get(name);
    if (!text.has_value()) return otherwise;
    const double value = ParseDouble(*text, min, max);
    if (value != value) Refuse(name, *text, allowed);
    return value;
  }

  std::vector<double> Doubles(const char* name, double min, double max,
                              const char* allowed) {
    std::vector<double> values;
    const auto text = line_.Get(name);
    if (!text.has_value()) return values;
    for (const absl::string_view part : absl::StrSplit(*text, ',')) {
      values.push_back(ParseDouble(part, min, max));
      if (values.back() != values.back()) Refuse(name, *text, allowed);
    }
    return values;
  }

  absl::Duration Duration(const char* name, absl::Duration otherwise,
                          absl::Duration min) {
    const auto text = line_.Get(name);
    if (!text.has_value()) return otherwise;
    const absl::StatusOr<absl::Duration> value = ParseDuration(*text);
    if (value.ok() && *value >= min) return *value;
    Refuse(name, *text,
           absl::StrCat("allowed is a duration from ",
                        absl::FormatDuration(min), ", such as 500ms or 10s"));
    return otherwise;
  }

  uint64_t Rows(const char* name) {
    const auto text = line_.Get(name);
    if (!text.has_value()) return 0;
    const absl::StatusOr<uint64_t> value = ParseRowCount(*text);
    if (value.ok() && *value > 0 &&
        *value <= uint64_t{1} << std::numeric_limits<double>::digits) {
      return *value;
    }
    Refuse(name, *text, "allowed is a number above 0, such as 1000 or 10M");
    return 0;
  }

  // The value of the flag's word in `choices`.
  template <typename T>
  T Choice(const char* name, T otherwise,
           std::initializer_list<std::pair<const char*, T>> choices) {
    const auto text = line_.Get(name);
    if (!text.has_value()) return otherwise;
    std::string words;
    for (const auto& [word, value] : choices) {
      if (*text == word) return value;
      absl::StrAppend(&words, words.empty() ? "" : ", ", word);
    }
    Refuse(name, *text, absl::StrCat("allowed is one of ", words));
    return otherwise;
  }

  void Refuse(const absl::string_view message) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(message);
  }

 private:
  // NaN if the text is no number in [min, max].
  static double ParseDouble(absl::string_view text, double min, double max) {
    double value = 0;
    if (absl::SimpleAtod(text, &value) && value >= min && value <= max) {
      return value;
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

  void Refuse(const char* name, const std::string& text,
              absl::string_view allowed) {
    Refuse(absl::StrCat("--", name, ": \"", text, "\"; ", allowed));
  }

  const CommandLine& line_;
  absl::Status status_;
};

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

LoadOptions ReadLoad(FlagReader& flags, bool is_open) {
  LoadOptions load;
  load.num_callers =
      flags.Int("callers", is_open ? kDefaultOpenCallers : 1, 1, kMaxCallers);
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
  constexpr double kMin = 1e-3;
  constexpr double kMax = 1e9;
  if (flags.Has("rate") && flags.Has("rates")) {
    flags.Refuse("--rate and --rates exclude each other");
  }
  if (flags.Has("rate")) {
    return {flags.Double("rate", 0, kMin, kMax, kAllowed)};
  }
  return flags.Doubles("rates", kMin, kMax, kAllowed);
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
  options.load = ReadLoad(flags, !options.rates.empty());
  options.load.connection = options.client.connection;
  options.load.timeout = options.client.timeout;
  options.fill = flags.Has("fill");
  options.verify = flags.Has("verify");
  options.num_writers = flags.Int("writers", 2, 0, 1000);
  options.num_readers = flags.Int("readers", 4, 0, 1000);
  options.json_path = flags.Text("json", "");
  options.svg_path = flags.Text("svg", "");
  if (options.tables.empty()) flags.Refuse("--tables is missing");
  if (options.verify && options.tables.size() != 1) {
    flags.Refuse("--verify takes one table");
  }
  if (flags.Has("svg") && !flags.Has("rates")) {
    flags.Refuse("--svg needs --rates");
  }
  if (!flags.status().ok()) return flags.status();
  return options;
}

}  // namespace gatherd::client
