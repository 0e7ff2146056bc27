#include "client/bench/load_counters.h"

#include <algorithm>

#include "absl/status/status.h"

namespace gatherd::client {
namespace {

void Increase(std::atomic<uint64_t>& count, uint64_t by) {
  count.fetch_add(by, std::memory_order_relaxed);
}

}  // namespace

void MethodCounters::AddAnswer(size_t num_keys, size_t num_bytes) {
  Increase(num_calls_, 1);
  Increase(num_keys_, num_keys);
  Increase(num_bytes_, num_bytes);
}

void MethodCounters::AddAll(const MethodCounters& other) {
  latency_ns_.AddAll(other.latency_ns_);
  Increase(num_calls_, other.num_calls_);
  Increase(num_keys_, other.num_keys_);
  Increase(num_bytes_, other.num_bytes_);
}

MethodResult MethodCounters::Result() const {
  const auto microseconds = [this](double quantile) {
    return static_cast<double>(latency_ns_.Percentile(quantile)) / 1e3;
  };
  MethodResult result;
  result.num_calls = num_calls_;
  result.num_keys = num_keys_;
  result.num_bytes = num_bytes_;
  result.num_due = latency_ns_.count();
  result.latency = {
      latency_ns_.Mean() / 1e3, microseconds(0.5),
      microseconds(0.9),        microseconds(0.99),
      microseconds(0.999),      static_cast<double>(latency_ns_.max()) / 1e3};
  return result;
}

void LoadCounters::AddError(int code, std::string_view message) {
  const bool is_known = code >= 0 && code < static_cast<int>(kNumCodes);
  const auto unknown = static_cast<int>(absl::StatusCode::kUnknown);
  Increase(errors_[is_known ? code : unknown], 1);
  if (has_message_.exchange(true, std::memory_order_relaxed)) return;
  std::copy_n(message.data(), std::min(message.size(), kMaxMessageBytes - 1),
              message_.begin());
}

void LoadCounters::AddCpu(double seconds) {
  Increase(cpu_ns_, static_cast<uint64_t>(seconds * 1e9));
}

void LoadCounters::AddAll(const LoadCounters& other) {
  lookups_.AddAll(other.lookups_);
  updates_.AddAll(other.updates_);
  for (size_t code = 0; code < kNumCodes; ++code) {
    Increase(errors_[code], other.errors_[code]);
  }
  if (other.has_message_ && !has_message_) {
    has_message_ = true;
    message_ = other.message_;
  }
  Increase(num_short_, other.num_short_);
  Increase(num_unsent_, other.num_unsent_);
  Increase(cpu_ns_, other.cpu_ns_);
}

LoadResult LoadCounters::Result(double seconds) const {
  LoadResult result;
  result.seconds = seconds;
  result.lookups = lookups_.Result();
  result.updates = updates_.Result();
  for (size_t code = 0; code < kNumCodes; ++code) {
    if (errors_[code] == 0) continue;
    result
        .errors[absl::StatusCodeToString(static_cast<absl::StatusCode>(code))] =
        errors_[code];
  }
  result.first_error = message_.data();
  result.num_short = num_short_;
  result.num_unsent = num_unsent_;
  result.client_cpu_s = static_cast<double>(cpu_ns_) / 1e9;
  return result;
}

}  // namespace gatherd::client
