// Latency against load as a picture: one self-contained SVG document.
#ifndef GATHERD_CLIENT_BENCH_PLOT_H_
#define GATHERD_CLIENT_BENCH_PLOT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/bench/load_counters.h"

namespace gatherd::client {

struct PlotPoint {
  double calls_per_s = 0;  // offered
  LatencySummary latency;
  bool kept_up = true;  // whether the server answered what was offered
};

// The points in growing order of load. The load's axis is linear from 0, the
// latency's logarithmic; a load that the server did not keep up with has hollow
// marks. Without points there are axes alone.
std::string LatencyPlot(absl::string_view title,
                        absl::Span<const PlotPoint> points);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_PLOT_H_
