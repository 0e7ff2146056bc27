#include "server/access/access_control.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "server/access/file_text.h"
#include "server/log.h"

namespace gatherd {
namespace {

constexpr absl::string_view kScheme = "Bearer ";

// The token of "Bearer TOKEN"; empty if it is none. Schemes are matched without
// regard to case (RFC 7235).
std::string_view TokenOf(std::string_view authorization) {
  absl::string_view text(authorization.data(), authorization.size());
  if (!absl::StartsWithIgnoreCase(text, kScheme)) return {};
  text.remove_prefix(kScheme.size());
  while (absl::ConsumePrefix(&text, " ")) {
  }
  return {text.data(), text.size()};
}

absl::StatusOr<TokenSet> ReadFile(const std::string& path) {
  if (path.empty()) return TokenSet();
  const absl::StatusOr<std::string> text = ReadFileText(path);
  if (!text.ok()) return text.status();
  return TokenSet::Parse(*text, path);
}

}  // namespace

absl::StatusOr<AccessTokens> ReadTokens(const AuthConfig& config) {
  absl::StatusOr<TokenSet> read = ReadFile(config.read_tokens_file);
  if (!read.ok()) return read.status();
  absl::StatusOr<TokenSet> write = ReadFile(config.write_tokens_file);
  if (!write.ok()) return write.status();
  return AccessTokens{*std::move(read), *std::move(write)};
}

FileChanges ChangesOf(const AuthConfig& config) {
  std::vector<std::string> paths;
  for (const std::string& path :
       {config.read_tokens_file, config.write_tokens_file}) {
    if (!path.empty()) paths.push_back(path);
  }
  return FileChanges(std::move(paths));
}

absl::StatusOr<std::unique_ptr<AccessControl>> AccessControl::Create(
    const AuthConfig& config) {
  std::unique_ptr<AccessControl> control(new AccessControl(config));
  absl::StatusOr<AccessTokens> tokens = ReadTokens(config);
  if (!tokens.ok()) return tokens.status();
  control->Replace(*std::move(tokens));
  return control;
}

AccessControl::~AccessControl() {
  delete tokens_.load(std::memory_order_relaxed);
}

absl::Status AccessControl::Check(
    std::string_view path,
    absl::Span<const std::string_view> authorization) const {
  const AccessRight needed = RightForMethod(path);
  if (needed == AccessRight::kNone) return absl::OkStatus();
  if (authorization.empty()) {
    return absl::UnauthenticatedError(
        "the call brings no token; allowed: `authorization: Bearer TOKEN`");
  }
  const std::string_view token = TokenOf(authorization.front());
  if (authorization.size() > 1 || token.empty()) {
    return absl::UnauthenticatedError(
        "`authorization` is not one bearer token; allowed: `authorization: "
        "Bearer TOKEN`, once");
  }
  const AccessRight given = RightOfToken(token);
  if (given == AccessRight::kNone) {
    return absl::UnauthenticatedError("the token is not known");
  }
  if (needed == AccessRight::kWrite && given != AccessRight::kWrite) {
    return absl::PermissionDeniedError(
        "the token may read; this call needs one that may write");
  }
  return absl::OkStatus();
}

AccessRight AccessControl::RightOfToken(std::string_view token) const {
  const TokenDigest digest = DigestOfToken(token);
  bool may_read = false;
  bool may_write = false;
  {
    const EpochGuard guard(readers_);
    // Acquire: pairs with the release that published them.
    const AccessTokens& tokens = *tokens_.load(std::memory_order_acquire);
    may_read = tokens.read.Contains(digest);
    may_write = tokens.write.Contains(digest);
  }
  if (may_write) return AccessRight::kWrite;
  return may_read ? AccessRight::kRead : AccessRight::kNone;
}

void AccessControl::ReadAgain() {
  absl::StatusOr<AccessTokens> tokens = ReadTokens(config_);
  is_stale_.store(!tokens.ok(), std::memory_order_relaxed);
  if (!tokens.ok()) {
    Log(LogLevel::kWarning, "tokens not read again, the old ones stay",
        {{"reason", std::string(tokens.status().message())}});
    return;
  }
  Replace(*std::move(tokens));
}

void AccessControl::Replace(AccessTokens tokens) {
  Log(LogLevel::kInfo, "tokens read",
      {{"may_read", tokens.read.size()}, {"may_write", tokens.write.size()}});
  if (tokens.read.size() + tokens.write.size() == 0) {
    Log(LogLevel::kWarning, "no token is known, so every call is refused");
  }
  const auto* fresh = new const AccessTokens(std::move(tokens));
  // Release: who finds the pointer finds what it points to.
  const std::unique_ptr<const AccessTokens> old(
      tokens_.exchange(fresh, std::memory_order_acq_rel));
  readers_.WaitUntilPassed(readers_.Advance());
}

}  // namespace gatherd
