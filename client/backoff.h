// How long to wait before trying a call again: exponentially growing and
// jittered, so that clients which failed together do not come back together.
// Not thread-safe; one belongs to one call.
#ifndef GATHERD_CLIENT_BACKOFF_H_
#define GATHERD_CLIENT_BACKOFF_H_

#include "absl/random/bit_gen_ref.h"
#include "absl/time/time.h"

namespace gatherd::client {

struct BackoffOptions {
  // Five attempts last longer than the 300 ms for which a server that stops
  // refuses calls on connections that still stand.
  absl::Duration initial = absl::Milliseconds(50);
  absl::Duration max = absl::Seconds(2);
  double multiplier = 2.0;
};

class Backoff {
 public:
  Backoff(const BackoffOptions& options, absl::BitGenRef random);

  // Between half of a bound and all of it. The bound starts at `initial` and
  // grows by `multiplier` up to `max`.
  absl::Duration Next();

 private:
  const BackoffOptions options_;
  absl::BitGenRef random_;
  absl::Duration bound_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_BACKOFF_H_
