#include "client/attempts.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace gatherd::client {

Attempts::Attempts(const AttemptsOptions& options)
    : deadline_(absl::Now() + options.timeout),
      num_left_(options.max_attempts),
      backoff_(options.backoff, random_) {}

std::optional<absl::Duration> Attempts::WaitAfter(const absl::Status& status) {
  if (!absl::IsUnavailable(status) || --num_left_ < 1) return std::nullopt;
  const absl::Duration wait = backoff_.Next();
  if (absl::Now() + wait >= deadline_) return std::nullopt;
  earlier_ = status;
  return wait;
}

absl::Status Attempts::Result(const absl::Status& status) const {
  if (earlier_.ok() ||
      !(absl::IsDeadlineExceeded(status) || absl::IsCancelled(status))) {
    return status;
  }
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; an earlier attempt: ",
                                   earlier_.ToString()));
}

}  // namespace gatherd::client
