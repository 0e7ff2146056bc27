#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tests/bench/gpu_bench_rig.h"

namespace gatherd::kernels {
namespace {

double Percentile(std::vector<double> times, double share) {
  std::sort(times.begin(), times.end());
  const auto last = static_cast<double>(times.size() - 1);
  return times[static_cast<size_t>(last * share)];
}

double Median(const std::vector<double>& times) {
  return Percentile(times, 0.5);
}

// Events that stand `inner` calls of `work` apart; us a call.
std::vector<double> TimeSpans(cudaStream_t stream, int num_spans, int inner,
                              const std::function<void()>& work) {
  std::vector<cudaEvent_t> events(num_spans + 1);
  for (cudaEvent_t& event : events) Check(cudaEventCreate(&event));
  Check(cudaEventRecord(events[0], stream));
  for (int i = 1; i <= num_spans; i++) {
    for (int k = 0; k < inner; k++) work();
    Check(cudaEventRecord(events[i], stream));
  }
  Check(cudaStreamSynchronize(stream));
  std::vector<double> times;
  for (int i = 1; i <= num_spans; i++) {
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, events[i - 1], events[i]));
    times.push_back(ms * 1e3 / inner);
  }
  for (cudaEvent_t event : events) Check(cudaEventDestroy(event));
  times.erase(times.begin());  // the first may wait for the host
  return times;
}

double Now() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

double TimeBackToBack(Batch* batch) {
  constexpr double kSpan = 200, kAll = 30000;  // us
  uint64_t i = 0;
  const auto launch = [&] { batch->Launch(i++); };
  const double once = Median(TimeSpans(batch->stream(), 5, 1, launch));
  const int inner = std::clamp(static_cast<int>(kSpan / once) + 1, 1, 64);
  const int num = std::clamp(static_cast<int>(kAll / once / inner), 7, 60);
  return Median(TimeSpans(batch->stream(), num + 1, inner, launch));
}

double TimeEach(Batch* batch) {
  cudaEvent_t start, stop;
  Check(cudaEventCreate(&start));
  Check(cudaEventCreate(&stop));
  std::vector<double> times;
  for (uint64_t i = 0; i < 63; i++) {
    Check(cudaEventRecord(start, batch->stream()));
    batch->Launch(i);
    Check(cudaEventRecord(stop, batch->stream()));
    Check(cudaEventSynchronize(stop));
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, start, stop));
    if (i >= 3) times.push_back(ms * 1e3);
  }
  Check(cudaEventDestroy(start));
  Check(cudaEventDestroy(stop));
  return Median(times);
}

double TimeTwo(Batch* one, Batch* other) {
  constexpr uint64_t kLaunches = 2000;
  std::vector<double> times;
  for (int run = 0; run < 5; run++) {
    const double start = Now();
    for (uint64_t i = 0; i < kLaunches; i++) {
      one->Launch(2 * i);
      other->Launch(2 * i + 1);
    }
    Check(cudaStreamSynchronize(one->stream()));
    Check(cudaStreamSynchronize(other->stream()));
    times.push_back((Now() - start) / (2 * kLaunches));
  }
  return Median(times);
}

double TimeInGraph(Batch* batch) {
  constexpr int kLaunches = 64;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  Check(cudaStreamBeginCapture(batch->stream(),
                               cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kLaunches; i++) batch->Launch(i);
  Check(cudaStreamEndCapture(batch->stream(), &graph));
  Check(cudaGraphInstantiate(&executable, graph, 0));
  const double us = Median(TimeSpans(batch->stream(), 30, 1, [&] {
    Check(cudaGraphLaunch(executable, batch->stream()));
  }));
  Check(cudaGraphExecDestroy(executable));
  Check(cudaGraphDestroy(graph));
  return us / kLaunches;
}

Latency TimeAlone(Batch* batch, const std::function<void()>& finish,
                  const std::function<void()>& before) {
  std::vector<double> times, launches;
  for (uint64_t i = 0; i < 2100; i++) {
    before();
    const double start = Now();
    batch->Launch(i);
    const double launched = Now();
    batch->WaitForReport();
    finish();
    const double end = Now();
    if (i < 100) continue;
    times.push_back(end - start);
    launches.push_back(launched - start);
  }
  return {Median(times), Percentile(times, 0.99), Median(launches)};
}

const char* NameOf(ElementType type) {
  return type == ElementType::kFloat32   ? "fp32"
         : type == ElementType::kFloat16 ? "fp16"
                                         : "int8";
}

void Print(const std::string& name, const BenchTable& table, uint64_t num_keys,
           double us) {
  std::printf(
      "{\"name\": \"%s\", \"dim\": %u, \"dtype\": \"%s\", \"keys\": %llu, "
      "\"us\": %.2f, \"keys_per_s\": %.4g}\n",
      name.c_str(), table.dim, NameOf(table.type),
      static_cast<unsigned long long>(num_keys), us,
      static_cast<double>(num_keys) / us * 1e6);
  std::fflush(stdout);
}

void PrintLatency(const std::string& name, const BenchTable& table,
                  uint64_t num_keys, const Latency& latency) {
  std::printf(
      "{\"name\": \"%s\", \"dim\": %u, \"dtype\": \"%s\", \"keys\": %llu, "
      "\"us\": %.2f, \"p99_us\": %.2f, \"launch_us\": %.2f}\n",
      name.c_str(), table.dim, NameOf(table.type),
      static_cast<unsigned long long>(num_keys), latency.p50, latency.p99,
      latency.launch);
  std::fflush(stdout);
}

}  // namespace gatherd::kernels
