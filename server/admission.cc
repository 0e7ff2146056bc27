#include "server/admission.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gatherd {

// Relaxed but for `ended`: the counts guard no data of their own.

AdmissionTicket::~AdmissionTicket() {
  if (counts_ == nullptr) return;
  counts_->bytes.fetch_sub(bytes_, std::memory_order_relaxed);
  // Release: comes after the request was counted as admitted.
  counts_->ended.fetch_add(1, std::memory_order_release);
}

absl::StatusOr<AdmissionTicket> Admission::Admit(uint64_t bytes,
                                                 std::string_view table) {
  uint64_t before = counts_->bytes.load(std::memory_order_relaxed);
  do {
    if (bytes > max_bytes_ || before > max_bytes_ - bytes) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "table \"", std::string(table), "\": the request and its reply take ",
          bytes, " bytes, ", before, " are in flight, at most ", max_bytes_,
          " may be (server.max_inflight_bytes)"));
    }
  } while (!counts_->bytes.compare_exchange_weak(before, before + bytes,
                                                 std::memory_order_relaxed));
  counts_->admitted.fetch_add(1, std::memory_order_relaxed);
  return AdmissionTicket(counts_, bytes);
}

}  // namespace gatherd
