#include "client/bench/plot.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace gatherd::client {
namespace {

constexpr double kWidth = 880;
constexpr double kHeight = 520;
constexpr double kLeft = 80;
constexpr double kRight = 850;
constexpr double kTop = 84;
constexpr double kBottom = 456;

constexpr char kStyle[] =
    "text{font:13px system-ui,sans-serif;fill:#333}"
    ".title{font-size:16px;font-weight:600}"
    ".grid{stroke:#ddd;stroke-width:1}"
    ".axis{stroke:#666;stroke-width:1}"
    ".line{fill:none;stroke-width:2}"
    ".mark{stroke-width:2}";

struct Series {
  const char* name;
  const char* color;
  double LatencySummary::*latency_us;
};

// Colours that stay apart for colour-blind readers, too.
constexpr Series kSeries[] = {
    {"p50", "#0072b2", &LatencySummary::p50_us},
    {"p90", "#009e73", &LatencySummary::p90_us},
    {"p99", "#e69f00", &LatencySummary::p99_us},
    {"p99.9", "#d55e00", &LatencySummary::p999_us},
};

std::string Escape(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string Text(double x, double y, const char* anchor, absl::string_view text,
                 const char* more = "") {
  return absl::StrFormat(
      "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y,
      anchor, more, Escape(text));
}

std::string Line(const char* style, double x1, double y1, double x2,
                 double y2) {
  return absl::StrFormat(
      "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
      style, x1, y1, x2, y2);
}

// 1, 2 or 5 times a power of ten, so that about five steps reach `max`.
double NiceStep(double max) {
  const double rough = max / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::string DurationText(double us) {
  if (us >= 1e6) return absl::StrFormat("%g s", us / 1e6);
  if (us >= 1e3) return absl::StrFormat("%g ms", us / 1e3);
  return absl::StrFormat("%g us", us);
}

class Plot {
 public:
  explicit Plot(absl::Span<const PlotPoint> points) : points_(points) {
    double max_load = 0;
    double min_us = 0;
    double max_us = 0;
    for (const PlotPoint& point : points) {
      max_load = std::max(max_load, point.calls_per_s);
      for (const Series& series : kSeries) {
        const double us = point.latency.*series.latency_us;
        if (us <= 0) continue;
        min_us = min_us > 0 ? std::min(min_us, us) : us;
        max_us = std::max(max_us, us);
      }
    }
    if (max_us <= 0) min_us = max_us = 100;
    if (max_load <= 0) max_load = 1;
    load_step_ = NiceStep(max_load);
    max_load_ = std::ceil(max_load / load_step_) * load_step_;
    min_decade_ = std::floor(std::log10(min_us));
    max_decade_ = std::max(std::ceil(std::log10(max_us)), min_decade_ + 1);
  }

  std::string Axes() const {
    std::string svg;
    for (double load = 0; load <= max_load_ * 1.001; load += load_step_) {
      svg += Line("grid", X(load), kTop, X(load), kBottom);
      svg += Text(X(load), kBottom + 20, "middle", absl::StrFormat("%g", load));
    }
    for (double decade = min_decade_; decade <= max_decade_; ++decade) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double us = factor * std::pow(10, decade);
        if (us > std::pow(10, max_decade_) * 1.001) break;
        svg += Line("grid", kLeft, Y(us), kRight, Y(us));
        svg += Text(kLeft - 8, Y(us) + 4, "end", DurationText(us));
      }
    }
    svg += Line("axis", kLeft, kTop, kLeft, kBottom);
    svg += Line("axis", kLeft, kBottom, kRight, kBottom);
    svg += Text((kLeft + kRight) / 2, kHeight - 16, "middle",
                "offered load, calls/s");
    return svg;
  }

  std::string Curve(const Series& series) const {
    std::string path;
    std::string marks;
    for (const PlotPoint& point : points_) {
      const double us = point.latency.*series.latency_us;
      if (us <= 0) continue;
      const double x = X(point.calls_per_s);
      absl::StrAppendFormat(&path, "%s%.1f,%.1f", path.empty() ? "" : " ", x,
                            Y(us));
      absl::StrAppendFormat(
          &marks,
          "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\" "
          "stroke=\"%s\" fill=\"%s\"><title>%s at %g calls/s: %s</title>"
          "</circle>\n",
          x, Y(us), series.color, point.kept_up ? series.color : "#fff",
          series.name, point.calls_per_s, DurationText(std::round(us)));
    }
    return absl::StrFormat(
        "<polyline class=\"line\" stroke=\"%s\" points=\"%s\"/>\n%s",
        series.color, path, marks);
  }

 private:
  double X(double load) const {
    return kLeft + (kRight - kLeft) * load / max_load_;
  }
  double Y(double us) const {
    const double share =
        (std::log10(us) - min_decade_) / (max_decade_ - min_decade_);
    return kBottom - (kBottom - kTop) * share;
  }

  const absl::Span<const PlotPoint> points_;
  double load_step_ = 1;
  double max_load_ = 1;
  double min_decade_ = 0;
  double max_decade_ = 1;
};

std::string Legend(bool has_hollow) {
  std::string svg;
  double x = kLeft;
  for (const Series& series : kSeries) {
    absl::StrAppendFormat(
        &svg, "<circle cx=\"%.1f\" cy=\"60\" r=\"5\" fill=\"%s\"/>\n", x + 6,
        series.color);
    svg += Text(x + 18, 64, "start", series.name);
    x += 80;
  }
  if (has_hollow) {
    svg += Text(kRight, 64, "end", "hollow: the server did not keep up");
  }
  return svg;
}

}  // namespace

std::string LatencyPlot(absl::string_view title,
                        absl::Span<const PlotPoint> points) {
  const Plot plot(points);
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
      "viewBox=\"0 0 %g %g\">\n<style>%s</style>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      kWidth, kHeight, kWidth, kHeight, kStyle);
  svg += Text(kLeft, 26, "start", "Latency against load", " class=\"title\"");
  svg += Text(kLeft, 46, "start", title);
  svg += Legend(std::any_of(points.begin(), points.end(),
                            [](const PlotPoint& p) { return !p.kept_up; }));
  svg += plot.Axes();
  for (const Series& series : kSeries) svg += plot.Curve(series);
  return svg + "</svg>\n";
}

}  // namespace gatherd::client
