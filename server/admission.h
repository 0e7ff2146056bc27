// Bounds what requests and their replies take up in memory, all together.
// Thread-safe.
#ifndef GATHERD_SERVER_ADMISSION_H_
#define GATHERD_SERVER_ADMISSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace gatherd {

// What is in flight. Shared with the tickets, which may outlive the server: a
// transport lets go of the last reply when it likes.
struct InflightCounts {
  std::atomic<uint64_t> admitted{0};  // requests so far
  std::atomic<uint64_t> ended{0};     // of those
  std::atomic<uint64_t> bytes{0};
};

// One admitted request. Gives its bytes back when destroyed.
class AdmissionTicket {
 public:
  AdmissionTicket() = default;
  AdmissionTicket(AdmissionTicket&& other) noexcept
      : counts_(std::move(other.counts_)), bytes_(other.bytes_) {}
  AdmissionTicket& operator=(AdmissionTicket&& other) noexcept {
    std::swap(counts_, other.counts_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~AdmissionTicket();

 private:
  friend class Admission;
  AdmissionTicket(std::shared_ptr<InflightCounts> counts, uint64_t bytes)
      : counts_(std::move(counts)), bytes_(bytes) {}

  std::shared_ptr<InflightCounts> counts_;
  uint64_t bytes_ = 0;
};

class Admission {
 public:
  explicit Admission(uint64_t max_bytes)
      : max_bytes_(max_bytes), counts_(std::make_shared<InflightCounts>()) {}

  // For a request and its reply, `bytes` together. RESOURCE_EXHAUSTED naming
  // `table`, the number, the limit and its setting, at once, if that is more
  // than may be in flight.
  absl::StatusOr<AdmissionTicket> Admit(uint64_t bytes, std::string_view table);

  // Requests in flight. Acquire, so that those that have ended are found
  // admitted.
  uint64_t num_requests() const {
    const uint64_t ended = counts_->ended.load(std::memory_order_acquire);
    return num_admitted() - ended;
  }
  // Requests since the start.
  uint64_t num_admitted() const {
    return counts_->admitted.load(std::memory_order_relaxed);
  }
  uint64_t num_bytes() const {
    return counts_->bytes.load(std::memory_order_relaxed);
  }

 private:
  const uint64_t max_bytes_;
  const std::shared_ptr<InflightCounts> counts_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_ADMISSION_H_
