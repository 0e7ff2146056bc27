// Histograms out of Prometheus text, the format of a server's /metrics.
#ifndef GATHERD_CLIENT_CTL_METRICS_TEXT_H_
#define GATHERD_CLIENT_CTL_METRICS_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace gatherd::client {

struct HistogramSeries {
  struct Bucket {
    double bound = 0;  // infinity in the last one
    double count = 0;  // of values up to the bound
  };

  std::vector<Bucket> buckets;  // rising
  double sum = 0;
  double count = 0;

  double Mean() const { return count > 0 ? sum / count : 0; }
  // As Prometheus' histogram_quantile: evenly spread within a bucket, and the
  // highest bound for what lies above it. 0 without values.
  double Quantile(double quantile) const;
  // Takes away what there was earlier. FAILED_PRECONDITION if that is not part
  // of this: another process has been counting.
  absl::Status Subtract(const HistogramSeries& earlier);
};

// The series of `name` that has all `labels`, each as in stage="decode".
// NOT_FOUND, or INTERNAL if its lines are not those of a histogram.
absl::StatusOr<HistogramSeries> FindHistogram(
    absl::string_view text, absl::string_view name,
    absl::Span<const absl::string_view> labels);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_CTL_METRICS_TEXT_H_
