// Decides by its bearer token whether a call may go on. Tokens are those of two
// files, which are read again when they change.
#ifndef GATHERD_SERVER_ACCESS_ACCESS_CONTROL_H_
#define GATHERD_SERVER_ACCESS_ACCESS_CONTROL_H_

#include <atomic>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/table/epoch.h"
#include "server/access/access_right.h"
#include "server/access/file_changes.h"
#include "server/access/token_set.h"
#include "server/config.h"

namespace gatherd {

struct AccessTokens {
  TokenSet read;   // may read
  TokenSet write;  // may write and read
};

// INVALID_ARGUMENT naming file and line. A file that is not given is an empty
// one.
absl::StatusOr<AccessTokens> ReadTokens(const AuthConfig& config);

// What is to be watched for AccessControl::ReadAgain.
FileChanges ChangesOf(const AuthConfig& config);

// Thread-safe, but for ReadAgain, which one thread may call.
class AccessControl {
 public:
  // Reads the files, with ReadTokens' errors.
  static absl::StatusOr<std::unique_ptr<AccessControl>> Create(
      const AuthConfig& config);
  ~AccessControl();

  // For a call of the method `path`. `authorization` has the value of each such
  // header that the call brought. UNAUTHENTICATED without a token that is
  // known, PERMISSION_DENIED if it may not do this. Neither waits nor allocates
  // unless it refuses.
  absl::Status Check(std::string_view path,
                     absl::Span<const std::string_view> authorization) const;

  // A file that is wrong is logged, and all tokens stay as they were.
  void ReadAgain();
  // Whether that was so the last time.
  bool is_stale() const { return is_stale_.load(std::memory_order_relaxed); }

 private:
  explicit AccessControl(AuthConfig config) : config_(std::move(config)) {}

  void Replace(AccessTokens tokens);
  AccessRight RightOfToken(std::string_view token) const;

  const AuthConfig config_;
  // Calls read the tokens inside an epoch; old ones go when it has passed.
  mutable EpochDomain readers_;
  std::atomic<const AccessTokens*> tokens_{nullptr};
  std::atomic<bool> is_stale_{false};  // relaxed: for metrics
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_ACCESS_CONTROL_H_
