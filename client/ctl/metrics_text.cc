#include "client/ctl/metrics_text.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace gatherd::client {
namespace {

// One sample: name{label="value",...} number. Our labels' values have neither
// commas nor braces.
struct SampleLine {
  absl::string_view name;
  std::vector<absl::string_view> labels;
  double value = 0;
};

std::optional<SampleLine> ParseLine(absl::string_view line) {
  SampleLine sample;
  const size_t open = line.find('{');
  const size_t close = line.rfind("} ");
  if (open == absl::string_view::npos || close == absl::string_view::npos ||
      close < open ||
      !absl::SimpleAtod(line.substr(close + 2), &sample.value)) {
    return std::nullopt;
  }
  sample.name = line.substr(0, open);
  sample.labels = absl::StrSplit(line.substr(open + 1, close - open - 1), ',');
  return sample;
}

// The number of le="number", of a bucket; NaN if there is none.
double BoundOf(const SampleLine& sample) {
  for (absl::string_view label : sample.labels) {
    double bound = 0;
    if (absl::ConsumePrefix(&label, "le=\"") &&
        absl::ConsumeSuffix(&label, "\"") && absl::SimpleAtod(label, &bound)) {
      return bound;
    }
  }
  return std::nan("");
}

bool IsHistogram(const HistogramSeries& series) {
  if (series.buckets.empty() || !std::isinf(series.buckets.back().bound) ||
      series.buckets.back().count != series.count) {
    return false;
  }
  for (size_t i = 0; i < series.buckets.size(); ++i) {
    if (std::isnan(series.buckets[i].bound)) return false;
    if (i > 0 && series.buckets[i].bound <= series.buckets[i - 1].bound) {
      return false;
    }
  }
  return true;
}

}  // namespace

double HistogramSeries::Quantile(double quantile) const {
  const double rank = quantile * count;
  double bound = 0;
  double below = 0;
  for (const Bucket& bucket : buckets) {
    if (bucket.count >= rank && bucket.count > below) {
      if (std::isinf(bucket.bound)) break;
      return bound +
             (bucket.bound - bound) * (rank - below) / (bucket.count - below);
    }
    if (std::isinf(bucket.bound)) break;
    bound = bucket.bound;
    below = bucket.count;
  }
  return count > 0 ? bound : 0;
}

absl::Status HistogramSeries::Subtract(const HistogramSeries& earlier) {
  const auto fits = [](const Bucket& now, const Bucket& then) {
    return now.bound == then.bound && now.count >= then.count;
  };
  if (!std::equal(buckets.begin(), buckets.end(), earlier.buckets.begin(),
                  earlier.buckets.end(), fits)) {
    return absl::FailedPreconditionError("the server was started anew");
  }
  for (size_t i = 0; i < buckets.size(); ++i) {
    buckets[i].count -= earlier.buckets[i].count;
  }
  sum -= earlier.sum;
  count -= earlier.count;
  return absl::OkStatus();
}

absl::StatusOr<HistogramSeries> FindHistogram(
    absl::string_view text, absl::string_view name,
    absl::Span<const absl::string_view> labels) {
  HistogramSeries series;
  bool is_found = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, name)) continue;
    const std::optional<SampleLine> sample = ParseLine(line);
    if (!sample.has_value()) continue;
    const auto has_label = [&sample](absl::string_view label) {
      return std::find(sample->labels.begin(), sample->labels.end(), label) !=
             sample->labels.end();
    };
    if (!std::all_of(labels.begin(), labels.end(), has_label)) continue;
    const absl::string_view part = sample->name.substr(name.size());
    if (part == "_bucket") {
      series.buckets.push_back({BoundOf(*sample), sample->value});
    } else if (part == "_sum") {
      series.sum = sample->value;
    } else if (part == "_count") {
      series.count = sample->value;
    } else {
      continue;
    }
    is_found = true;
  }
  const std::string what =
      absl::StrCat(name, "{", absl::StrJoin(labels, ","), "}");
  if (!is_found) return absl::NotFoundError(what + " is not among the metrics");
  if (!IsHistogram(series)) {
    return absl::InternalError(what + " is no histogram");
  }
  return series;
}

}  // namespace gatherd::client
