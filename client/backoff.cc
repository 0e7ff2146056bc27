#include "client/backoff.h"

#include <algorithm>

#include "absl/random/distributions.h"

namespace gatherd::client {

Backoff::Backoff(const BackoffOptions& options, absl::BitGenRef random)
    : options_(options), random_(random), bound_(options.initial) {}

absl::Duration Backoff::Next() {
  const absl::Duration wait = bound_ * absl::Uniform(random_, 0.5, 1.0);
  bound_ = std::min(bound_ * options_.multiplier, options_.max);
  return wait;
}

}  // namespace gatherd::client
