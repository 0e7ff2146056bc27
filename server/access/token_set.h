// The tokens of one file, kept as digests alone: what is compared then has one
// length, and neither a core dump nor a bug shows a token.
#ifndef GATHERD_SERVER_ACCESS_TOKEN_SET_H_
#define GATHERD_SERVER_ACCESS_TOKEN_SET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace gatherd {

// SHA-256.
using TokenDigest = std::array<uint64_t, 4>;

TokenDigest DigestOfToken(std::string_view token);

// Immutable, hence thread-safe.
class TokenSet {
 public:
  // Every call is compared with each of them.
  static constexpr size_t kMaxTokens = 1000;

  // One token a line; white space around it and empty lines do not count. No
  // line, no token. INVALID_ARGUMENT "PATH:LINE: what is wrong", which quotes
  // nothing of the file.
  static absl::StatusOr<TokenSet> Parse(std::string_view text,
                                        const std::string& path);

  // Compares with every token to its end, so that the time says neither
  // whether one was found nor how near one was.
  bool Contains(const TokenDigest& digest) const;

  size_t size() const { return digests_.size(); }

 private:
  std::vector<TokenDigest> digests_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_ACCESS_TOKEN_SET_H_
