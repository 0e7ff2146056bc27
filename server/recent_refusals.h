// The last calls that were refused or failed, for a person who asks why: the
// status page lists them. Thread-safe.
//
// An overload refuses more calls than anyone reads: of each code only some a
// second are kept, the others cost two atomic operations, mostly on memory
// that no other thread writes.
#ifndef GATHERD_SERVER_RECENT_REFUSALS_H_
#define GATHERD_SERVER_RECENT_REFUSALS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/metrics/rpc_metrics.h"
#include "server/metrics/sharded_counter.h"

namespace gatherd {

class Refusal {
 public:
  // A table's name at its longest, and the reason.
  static constexpr size_t kMaxTextBytes = 512;

  Refusal() = default;
  Refusal(RpcMethod method, const absl::Status& status, absl::Time time);

  RpcMethod method() const { return method_; }
  absl::StatusCode code() const { return code_; }
  absl::Time time() const { return time_; }
  // As the client got it, but for the values of keys, which are nobody else's
  // business, and for what is beyond the limit. Names in it are the client's:
  // valid UTF-8, any characters.
  std::string_view text() const { return {text_.data(), text_bytes_}; }

 private:
  void SetText(std::string_view message);
  bool Append(std::string_view character);

  RpcMethod method_ = RpcMethod::kLookup;
  absl::StatusCode code_ = absl::StatusCode::kOk;
  absl::Time time_;
  size_t text_bytes_ = 0;
  std::array<char, kMaxTextBytes> text_;
};

class RecentRefusals {
 public:
  static constexpr size_t kMaxListed = 20;
  static constexpr uint64_t kMaxPerSecond = 2;  // of each code

  // OK and CANCELLED are no refusals: who cancels has gone by himself.
  // Allocates nothing.
  void Add(RpcMethod method, const absl::Status& status, absl::Time now);

  // The newest first.
  std::vector<Refusal> List() const;

  // Calls that were not listed, since there were too many in their second.
  uint64_t num_left_out() const { return left_out_.Value(); }

 private:
  bool MayKeep(absl::StatusCode code, absl::Time now);

  // For each code: the second of the last one kept, and how many of that
  // second (its lowest byte). Relaxed: they order nothing.
  std::array<std::atomic<uint64_t>, kNumRpcCodes> kept_{};
  ShardedCounter left_out_;

  mutable absl::Mutex mutex_;
  std::array<Refusal, kMaxListed> ring_ ABSL_GUARDED_BY(mutex_);
  uint64_t num_kept_ ABSL_GUARDED_BY(mutex_) = 0;  // next: at its remainder
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_RECENT_REFUSALS_H_
