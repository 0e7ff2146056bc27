// How the files of certificates and tokens stand, for metrics.
#ifndef GATHERD_SERVER_ACCESS_ACCESS_STATS_H_
#define GATHERD_SERVER_ACCESS_ACCESS_STATS_H_

#include <optional>

#include "absl/time/time.h"

namespace gatherd {

struct AccessStats {
  std::optional<absl::Time> certificate_valid_until;  // none: plaintext
  // The files have changed and are wrong, so that old ones are in force.
  bool certificates_stale = false;
  bool tokens_stale = false;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_ACCESS_STATS_H_
