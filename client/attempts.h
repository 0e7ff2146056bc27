// The attempts of one call: until when they last, and whether another follows
// one that has failed. Not thread-safe; one belongs to one call.
#ifndef GATHERD_CLIENT_ATTEMPTS_H_
#define GATHERD_CLIENT_ATTEMPTS_H_

#include <optional>

#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/backoff.h"

namespace gatherd::client {

struct AttemptsOptions {
  absl::Duration timeout;  // over all attempts and the waits between them
  int max_attempts = 1;
  BackoffOptions backoff;
};

class Attempts {
 public:
  // The first attempt begins now.
  explicit Attempts(const AttemptsOptions& options);

  absl::Time deadline() const { return deadline_; }

  // How long to wait before the next attempt, after one that ended with
  // `status`. None if the call ends: with Result(status).
  std::optional<absl::Duration> WaitAfter(const absl::Status& status);

  // What the call ends with, `status` being that of the last attempt. When it
  // is the deadline that ended it, what went wrong before is the reason.
  absl::Status Result(const absl::Status& status) const;

 private:
  const absl::Time deadline_;
  int num_left_;
  absl::InsecureBitGen random_;
  Backoff backoff_;
  absl::Status earlier_;  // of the attempt before the last
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_ATTEMPTS_H_
