// Whether PEM texts can serve for TLS, as OpenSSL judges. Keeps its headers out
// of every other file but the digest's.
#ifndef GATHERD_SERVER_ACCESS_PEM_CHECK_H_
#define GATHERD_SERVER_ACCESS_PEM_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace gatherd {

struct PemFile {
  const std::string& path;  // for messages
  const std::string& text;
};

struct ValidTime {
  absl::Time from;
  absl::Time until;
};

// A chain of certificates and the key of its first; when that one is valid.
// INVALID_ARGUMENT naming the file, and nothing of a key. A key that needs a
// passphrase is refused.
absl::StatusOr<ValidTime> CheckIdentity(const PemFile& certificate,
                                        const PemFile& key);

// One or more certificates of those who sign.
absl::Status CheckAuthorities(const PemFile& file);

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_PEM_CHECK_H_
