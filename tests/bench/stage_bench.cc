// What it costs to measure the stages of a request: the clock is read six
// times and four histograms are counted up.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/metrics/request_metrics.h"

namespace gatherd {
namespace {

constexpr int kRequests = 2'000'000;

void MeasureRequests(RequestMetrics& metrics) {
  constexpr Stage kStages[] = {Stage::kDecode, Stage::kQueue, Stage::kDevice,
                               Stage::kEncode};
  for (int i = 0; i < kRequests; ++i) {
    absl::Time last = absl::Now();
    (void)absl::Now();
    for (const Stage stage : kStages) {
      const absl::Time now = absl::Now();
      metrics.StageDone(stage, now - last);
      last = now;
    }
  }
}

// CPU time, which other work on the machine does not change.
double NanosecondsARequest(int num_threads) {
  RequestMetrics metrics;
  std::vector<std::thread> threads;
  const std::clock_t begin = std::clock();
  for (int i = 0; i < num_threads; ++i) {
    threads.emplace_back([&] { MeasureRequests(metrics); });
  }
  for (std::thread& thread : threads) thread.join();
  const auto seconds =
      static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return seconds * 1e9 / kRequests / num_threads;
}

}  // namespace
}  // namespace gatherd

int main(int argc, char** argv) {
  const int num_threads = argc > 1 ? std::atoi(argv[1]) : 1;
  std::printf("%d threads: %.0f ns of CPU time a request\n", num_threads,
              gatherd::NanosecondsARequest(num_threads));
  return 0;
}
