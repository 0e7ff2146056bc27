// What handing a lookup to the dispatcher's threads costs, with a table that
// does next to nothing. Run on an otherwise idle machine.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/exec/dispatcher.h"
#include "tests/core/exec/fake_table.h"

namespace gatherd {
namespace {

constexpr size_t kKeys = 8;

// A job of one segment with its own buffers.
struct BenchJob {
  explicit BenchJob(FakeTable* table) {
    LookupSegment& segment = job.segments.emplace_back();
    segment.table = table;
    segment.batch.keys = keys;
    segment.output.rows = reinterpret_cast<std::byte*>(rows);
    segment.output.missing = &missing;
  }

  int64_t keys[kKeys] = {};
  float rows[kKeys];
  uint8_t missing = 0;
  LookupJob job;
};

double Percentile(std::vector<double>* values, double p) {
  std::sort(values->begin(), values->end());
  const auto last = static_cast<double>(values->size() - 1);
  return (*values)[static_cast<size_t>(p * last)];
}

std::unique_ptr<Dispatcher> MakeDispatcher(uint64_t inline_keys) {
  ThreadDispatcherOptions options;
  options.inline_keys = inline_keys;
  options.chunk_keys = kKeys;
  return CreateThreadDispatcher(options);
}

// One job at a time: from Submit to the chunk's start, and to the waiter.
void BenchLatency(const char* name, uint64_t inline_keys, absl::Duration gap) {
  FakeTable table;
  auto dispatcher = MakeDispatcher(inline_keys);
  std::vector<double> start_us;
  std::vector<double> round_trip_us;
  for (int i = 0; i < 5000; ++i) {
    BenchJob bench(&table);
    absl::Notification done;
    bench.job.done = [&done](const absl::Status&) { done.Notify(); };
    const absl::Time begin = absl::Now();
    dispatcher->SubmitLookup(&bench.job);
    done.WaitForNotification();
    round_trip_us.push_back(absl::ToDoubleMicroseconds(absl::Now() - begin));
    start_us.push_back(absl::ToDoubleMicroseconds(bench.job.times.started -
                                                  bench.job.times.submitted));
    if (gap > absl::ZeroDuration()) absl::SleepFor(gap);
  }
  std::printf(
      "%-28s start p50 %6.2f p99 %6.2f us, back p50 %6.2f p99 %6.2f us\n", name,
      Percentile(&start_us, 0.5), Percentile(&start_us, 0.99),
      Percentile(&round_trip_us, 0.5), Percentile(&round_trip_us, 0.99));
}

// `num_submitters` threads, each with up to `window` jobs under way.
void BenchThroughput(int num_submitters, int window) {
  constexpr int kBatches = 300;
  FakeTable table;
  auto dispatcher = MakeDispatcher(0);
  const absl::Time begin = absl::Now();
  std::vector<std::thread> threads;
  for (int t = 0; t < num_submitters; ++t) {
    threads.emplace_back([&] {
      std::vector<std::unique_ptr<BenchJob>> jobs;
      for (int i = 0; i < window; ++i) {
        jobs.push_back(std::make_unique<BenchJob>(&table));
      }
      for (int batch = 0; batch < kBatches; ++batch) {
        absl::BlockingCounter ends(window);
        for (auto& bench : jobs) {
          bench->job.done = [&ends](const absl::Status&) {
            ends.DecrementCount();
          };
          dispatcher->SubmitLookup(&bench->job);
        }
        ends.Wait();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  const double num_jobs = 1.0 * num_submitters * window * kBatches;
  std::printf("%d submitters, %4d under way:  %8.0f jobs/s, %.2f us a job\n",
              num_submitters, window, num_jobs / seconds,
              seconds / num_jobs * 1e6);
}

// One job of many chunks: what a chunk costs.
void BenchChunks() {
  constexpr size_t kChunks = 200'000;
  FakeTable table;
  auto dispatcher = MakeDispatcher(0);
  std::vector<int64_t> keys(kChunks * kKeys);
  std::vector<float> rows(keys.size());
  std::vector<uint8_t> missing(kChunks);
  LookupJob job;
  LookupSegment& segment = job.segments.emplace_back();
  segment.table = &table;
  segment.batch.keys = keys;
  segment.output.rows = reinterpret_cast<std::byte*>(rows.data());
  segment.output.missing = missing.data();
  absl::Notification done;
  job.done = [&done](const absl::Status&) { done.Notify(); };
  const absl::Time begin = absl::Now();
  dispatcher->SubmitLookup(&job);
  done.WaitForNotification();
  std::printf("chunks of one job:            %.3f us a chunk\n",
              absl::ToDoubleMicroseconds(absl::Now() - begin) / kChunks);
}

}  // namespace
}  // namespace gatherd

int main() {
  using gatherd::BenchLatency;
  BenchLatency("inline", 256, absl::ZeroDuration());
  BenchLatency("hand-over, back to back", 0, absl::ZeroDuration());
  BenchLatency("hand-over, after 200 us idle", 0, absl::Microseconds(200));
  for (const int num_submitters : {1, 2}) {
    for (const int window : {1, 4, 64, 1024}) {
      gatherd::BenchThroughput(num_submitters, window);
    }
  }
  gatherd::BenchChunks();
}
