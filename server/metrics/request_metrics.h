// What requests of EmbeddingService went through: stages, sizes, refusals.
// Thread-safe.
#ifndef GATHERD_SERVER_METRICS_REQUEST_METRICS_H_
#define GATHERD_SERVER_METRICS_REQUEST_METRICS_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "server/metrics/rpc_metrics.h"
#include "server/metrics/sharded_counter.h"
#include "server/metrics/sharded_histogram.h"

namespace gatherd {

enum class Stage : uint8_t { kDecode, kQueue, kDevice, kEncode };
inline constexpr size_t kNumStages = 4;

enum class Rejection : uint8_t {
  kOverload,
  kTooLarge,
  kDeadline,
  kDraining,
  kUnauthorized,
};
inline constexpr size_t kNumRejections = 5;

std::string_view StageName(Stage stage);              // "decode", ...
std::string_view RejectionName(Rejection rejection);  // "overload", ...

class RequestMetrics {
 public:
  RequestMetrics();

  void StageDone(Stage stage, absl::Duration duration) {
    stages_[static_cast<size_t>(stage)].Observe(duration);
  }
  // Keys of one request, all tables together.
  void RequestKeys(RpcMethod method, uint64_t num_keys) {
    keys_[static_cast<size_t>(method)].Observe(num_keys);
  }
  // Requests answered by one launch.
  void Batch(uint64_t num_requests) { batches_.Observe(num_requests); }
  void Rejected(Rejection reason) {
    rejected_[static_cast<size_t>(reason)].Add(1);
  }

  uint64_t num_rejected(Rejection reason) const {
    return rejected_[static_cast<size_t>(reason)].Value();
  }
  // Seconds.
  HistogramSnapshot stage(Stage stage) const {
    return stages_[static_cast<size_t>(stage)].Snapshot();
  }
  // Of requests that were read, each message of a stream counting as one.
  HistogramSnapshot request_keys(RpcMethod method) const {
    return keys_[static_cast<size_t>(method)].Snapshot();
  }

  void Collect(std::vector<prometheus::MetricFamily>& families) const;

 private:
  std::vector<ShardedHistogram> stages_;
  std::vector<ShardedHistogram> keys_;  // by method; some are never exported
  ShardedHistogram batches_ = ShardedHistogram::OfCounts();
  std::array<ShardedCounter, kNumRejections> rejected_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_METRICS_REQUEST_METRICS_H_
