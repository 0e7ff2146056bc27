// What a lookup costs a caller of the C++ client library: one caller, one call
// after the other. Prints one line of JSON. tests/bench/python_client_bench
// runs it beside the same calls from Python.
//
// usage: client_bench ADDRESS TABLE KEYS_PER_CALL NUM_ROWS SECONDS
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/client.h"

namespace gatherd::client {
namespace {

// More than are asked in one call, so that no call finds the last one's rows
// in a cache.
constexpr size_t kNumBatches = 64;

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return absl::ToDoubleSeconds(absl::DurationFromTimeval(usage.ru_utime) +
                               absl::DurationFromTimeval(usage.ru_stime));
}

std::vector<std::vector<int64_t>> RandomBatches(size_t num_keys,
                                                int64_t num_rows) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int64_t> row(0, num_rows - 1);
  std::vector<std::vector<int64_t>> batches(kNumBatches);
  for (std::vector<int64_t>& keys : batches) {
    keys.resize(num_keys);
    std::generate(keys.begin(), keys.end(), [&] { return row(random); });
  }
  return batches;
}

int Run(const char* address, const char* table, size_t num_keys,
        int64_t num_rows, double seconds) {
  ClientOptions options;
  options.connection.address = address;
  const auto client = Client::Create(options);
  if (!client.ok()) return 1;
  const auto batches = RandomBatches(num_keys, num_rows);
  std::vector<double> us;
  us.reserve(1 << 20);
  double cpu_s = 0;
  const absl::Time warm = absl::Now() + absl::Seconds(1);
  const absl::Time end = warm + absl::Seconds(seconds);
  for (size_t i = 0;; ++i) {
    const absl::Time began = absl::Now();
    if (began >= end) break;
    if (began >= warm && us.empty()) cpu_s = CpuSeconds();
    const auto reply =
        (*client)->Lookup({{table, batches[i % batches.size()]}});
    if (!reply.ok() || (*reply)[0].num_missing() != 0) {
      std::fprintf(stderr, "%s\n", reply.status().ToString().c_str());
      return 1;
    }
    const absl::Duration took = absl::Now() - began;
    if (began >= warm) us.push_back(absl::ToDoubleMicroseconds(took));
  }
  if (us.empty()) return 1;
  cpu_s = CpuSeconds() - cpu_s;
  std::sort(us.begin(), us.end());
  const double num_calls = static_cast<double>(us.size());
  std::printf(
      "{\"calls\": %zu, \"p50_us\": %.1f, \"p99_us\": %.1f, "
      "\"cpu_us\": %.1f}\n",
      us.size(), us[us.size() / 2], us[us.size() * 99 / 100],
      cpu_s * 1e6 / num_calls);
  return 0;
}

}  // namespace
}  // namespace gatherd::client

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr,
                 "usage: client_bench ADDRESS TABLE KEYS_PER_CALL NUM_ROWS "
                 "SECONDS\n");
    return 2;
  }
  return gatherd::client::Run(argv[1], argv[2],
                              static_cast<size_t>(std::atoll(argv[3])),
                              std::atoll(argv[4]), std::atof(argv[5]));
}
