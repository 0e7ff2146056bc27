#include "client/bench/plot.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/client/run_program.h"

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;

// An XML parser's opinion.
void CheckIsXml(const std::string& text) {
  const std::string path = TemporaryPath("plot.svg");
  WriteFile(path, text);
  const ProgramResult result =
      RunProgram("/usr/bin/python3",
                 {"-c",
                  "import sys, xml.etree.ElementTree as e\n"
                  "assert e.parse(sys.argv[1]).getroot().tag.endswith('}svg')",
                  path});
  INFO(result.err);
  CHECK(result.exit_code == 0);
}

LatencySummary Latency(double p50_us) {
  return {p50_us, p50_us, 2 * p50_us, 10 * p50_us, 40 * p50_us, 50 * p50_us};
}

}  // namespace

TEST_CASE("The plot is well-formed and shows every point") {
  const std::vector<PlotPoint> points = {{1000, Latency(100), true},
                                         {2000, Latency(150), true},
                                         {4000, Latency(9000), false}};
  const std::string svg = LatencyPlot("a < b & \"c\"", points);
  CheckIsXml(svg);
  CHECK_THAT(svg, Contains("a &lt; b &amp; &quot;c&quot;"));
  CHECK_THAT(svg, Contains("p99.9 at 4000 calls/s: 360 ms"));
  CHECK_THAT(svg, Contains("hollow"));
  CHECK_THAT(svg, Contains(">4000<"));    // axis of the load
  CHECK_THAT(svg, Contains(">100 us<"));  // axis of the latency
  CHECK_THAT(svg, !Contains("nan") && !Contains("inf"));
}

TEST_CASE("Plots of nothing, of one point and of failures are well-formed") {
  const std::vector<std::vector<PlotPoint>> cases = {
      {},
      {{1, Latency(1), true}},
      {{1e7, Latency(0.5), true}},
      {{100, LatencySummary(), false}},
  };
  for (const std::vector<PlotPoint>& points : cases) {
    const std::string svg = LatencyPlot("", points);
    CheckIsXml(svg);
    CHECK_THAT(svg, !Contains("nan") && !Contains("inf"));
  }
}

}  // namespace gatherd::client
