#include "client/bench/flag_reader.h"

#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "cli/units.h"

namespace gatherd::client {
namespace {

constexpr int kMaxSweepSteps = 1000;

// NaN if the text is no number in [min, max].
double ParseDouble(absl::string_view text, double min, double max) {
  double value = 0;
  if (absl::SimpleAtod(text, &value) && value >= min && value <= max) {
    return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::string FlagReader::Text(const char* name, std::string otherwise) const {
  return line_.Get(name).value_or(std::move(otherwise));
}

int FlagReader::Int(const char* name, int otherwise, int min, int max) {
  int value = otherwise;
  if (const auto text = line_.Get(name);
      text.has_value() &&
      (!absl::SimpleAtoi(*text, &value) || value < min || value > max)) {
    Refuse(name, *text,
           absl::StrCat("allowed is a number from ", min, " to ", max));
  }
  return value;
}

double FlagReader::Double(const char* name, double otherwise, double min,
                          double max, const char* allowed) {
  const auto text = line_.Get(name);
  if (!text.has_value()) return otherwise;
  const double value = ParseDouble(*text, min, max);
  if (value != value) Refuse(name, *text, allowed);
  return value;
}

std::vector<double> FlagReader::Doubles(const char* name, double min,
                                        double max, const char* allowed) {
  std::vector<double> values;
  const auto text = line_.Get(name);
  if (!text.has_value()) return values;
  for (const absl::string_view part : absl::StrSplit(*text, ',')) {
    values.push_back(ParseDouble(part, min, max));
    if (values.back() != values.back()) Refuse(name, *text, allowed);
  }
  return values;
}

std::vector<double> FlagReader::Sweep(const char* name, double min, double max,
                                      const char* allowed) {
  std::vector<double> values;
  const auto text = line_.Get(name);
  if (!text.has_value()) return values;
  const std::vector<std::string> parts = absl::StrSplit(*text, ':');
  int num_steps = 0;
  if (parts.size() == 3 && absl::SimpleAtoi(parts[2], &num_steps) &&
      num_steps >= 2 && num_steps <= kMaxSweepSteps) {
    const double low = ParseDouble(parts[0], min, max);
    const double high = ParseDouble(parts[1], min, max);
    for (int i = 0; low < high && i < num_steps; ++i) {
      values.push_back(low + (high - low) * i / (num_steps - 1));
    }
  }
  if (values.empty()) Refuse(name, *text, allowed);
  return values;
}

absl::Duration FlagReader::Duration(const char* name, absl::Duration otherwise,
                                    absl::Duration min) {
  const auto text = line_.Get(name);
  if (!text.has_value()) return otherwise;
  const absl::StatusOr<absl::Duration> value = ParseDuration(*text);
  if (value.ok() && *value >= min) return *value;
  Refuse(name, *text,
         absl::StrCat("allowed is a duration from ", absl::FormatDuration(min),
                      ", such as 500ms or 10s"));
  return otherwise;
}

uint64_t FlagReader::Rows(const char* name) {
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

void FlagReader::Refuse(absl::string_view message) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(message);
}

void FlagReader::Refuse(const char* name, const std::string& text,
                        absl::string_view allowed) {
  Refuse(absl::StrCat("--", name, ": \"", text, "\"; ", allowed));
}

}  // namespace gatherd::client
