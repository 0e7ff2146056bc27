// What a load counts while it runs, and what it comes to.
#ifndef GATHERD_CLIENT_BENCH_LOAD_COUNTERS_H_
#define GATHERD_CLIENT_BENCH_LOAD_COUNTERS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "client/bench/histogram.h"

namespace gatherd::client {

struct LatencySummary {
  double mean_us = 0;
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double max_us = 0;
};

// What was measured of one kind of call.
struct MethodResult {
  uint64_t num_calls = 0;  // answered without error
  uint64_t num_keys = 0;   // of those
  uint64_t num_bytes = 0;  // of their replies (lookups) or requests (updates)
  uint64_t num_due = 0;    // calls of an open loop, answered or not
  LatencySummary latency;  // of those, or of all calls of a closed loop
};

struct LoadResult {
  double seconds = 0;
  MethodResult lookups;
  MethodResult updates;
  std::map<std::string, uint64_t> errors;  // by the name of their code
  std::string first_error;                 // its message
  uint64_t num_short = 0;   // replies that were too small for their rows
  uint64_t num_unsent = 0;  // open loop: due, but never sent
  double client_cpu_s = 0;  // spent by all processes that made the load
};

// Thread-safe. Every count is a relaxed atomic: nothing is ordered by them, and
// whoever reads has waited for those who count.
class MethodCounters {
 public:
  void AddLatency(uint64_t nanoseconds) { latency_ns_.Add(nanoseconds); }
  void AddAnswer(size_t num_keys, size_t num_bytes);
  void AddAll(const MethodCounters& other);
  MethodResult Result() const;

 private:
  Histogram latency_ns_;
  std::atomic<uint64_t> num_calls_{0};
  std::atomic<uint64_t> num_keys_{0};
  std::atomic<uint64_t> num_bytes_{0};
};

// As MethodCounters. Holds no pointers, so that it may lie in memory that
// processes share.
class LoadCounters {
 public:
  MethodCounters& lookups() { return lookups_; }
  MethodCounters& updates() { return updates_; }

  // `code` is gRPC's number. Keeps the first message, as much as there is room
  // for.
  void AddError(int code, std::string_view message);
  void AddShort() { num_short_.fetch_add(1, std::memory_order_relaxed); }
  void AddUnsent() { num_unsent_.fetch_add(1, std::memory_order_relaxed); }
  void AddCpu(double seconds);

  // Exact: a percentile afterwards is that of all latencies together.
  void AddAll(const LoadCounters& other);

  LoadResult Result(double seconds) const;

 private:
  static constexpr size_t kNumCodes = 17;  // of gRPC
  static constexpr size_t kMaxMessageBytes = 512;

  MethodCounters lookups_;
  MethodCounters updates_;
  std::array<std::atomic<uint64_t>, kNumCodes> errors_ = {};
  std::atomic<bool> has_message_{false};  // whoever sets it writes the message
  std::array<char, kMaxMessageBytes> message_ = {};  // ends with a zero
  std::atomic<uint64_t> num_short_{0};
  std::atomic<uint64_t> num_unsent_{0};
  std::atomic<uint64_t> cpu_ns_{0};
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BENCH_LOAD_COUNTERS_H_
