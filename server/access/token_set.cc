#include "server/access/token_set.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gatherd {
namespace {

absl::Status Wrong(const std::string& path, int line, const char* what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ":", line, ": ", what));
}

bool IsToken(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c));
  });
}

}  // namespace

TokenDigest DigestOfToken(std::string_view token) {
  unsigned char bytes[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(),
         bytes);
  TokenDigest digest;
  static_assert(sizeof(digest) == sizeof(bytes));
  std::memcpy(digest.data(), bytes, sizeof(bytes));
  return digest;
}

absl::StatusOr<TokenSet> TokenSet::Parse(std::string_view text,
                                         const std::string& path) {
  TokenSet tokens;
  int line_number = 0;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++line_number;
    const absl::string_view token = absl::StripAsciiWhitespace(line);
    if (token.empty()) continue;
    if (!IsToken(token)) {
      return Wrong(path, line_number,
                   "has a space inside, or a character that is not printable "
                   "ASCII; allowed: one token a line");
    }
    if (tokens.digests_.size() == kMaxTokens) {
      return Wrong(path, line_number,
                   "is one token too many; allowed: 1000 in a file");
    }
    tokens.digests_.push_back(DigestOfToken({token.data(), token.size()}));
  }
  return tokens;
}

bool TokenSet::Contains(const TokenDigest& digest) const {
  uint64_t found = 0;
  for (const TokenDigest& candidate : digests_) {
    uint64_t difference = 0;
    for (size_t i = 0; i < digest.size(); ++i) {
      difference |= digest[i] ^ candidate[i];
    }
    // The highest bit of (d | -d) is clear for d = 0 alone: no branch.
    found |= ((difference | (0 - difference)) >> 63) ^ 1;
  }
  return found != 0;
}

}  // namespace gatherd
