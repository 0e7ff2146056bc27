#include "client/connection_flags.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/loopback.h"
#include "cli/units.h"

namespace gatherd::client {
namespace {

constexpr FlagSpec kFlags[] = {{"address"}, {"ca"},      {"cert"},
                               {"key"},     {"timeout"}, {"token-file"}};

constexpr char kHelp[] =
    "  --address=HOST:PORT  the server (default localhost:7400); also "
    "unix:/path\n"
    "                       or, of several: IP:PORT,IP:PORT or "
    "dns:///NAME:PORT\n"
    "  --timeout=D          limit of each call (default 10s)\n"
    "  --token-file=F       file whose first line is the token to send\n"
    "  --ca=F               use TLS; PEM file of who signs the server's "
    "certificate\n"
    "  --cert=F --key=F     PEM files of the client's certificate and key\n";

// The text of the file that flag `name` names; empty without the flag.
absl::StatusOr<std::string> ReadFlagFile(const CommandLine& line,
                                         const std::string& name) {
  const std::optional<std::string> path = line.Get(name);
  if (!path.has_value()) return std::string();
  std::ifstream file(*path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": cannot read ", *path));
  }
  if (absl::StripAsciiWhitespace(text).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": ", *path, " is empty"));
  }
  return text;
}

// The text of a PEM file that flag `name` names; empty without the flag.
absl::StatusOr<std::string> ReadPemFile(const CommandLine& line,
                                        const std::string& name) {
  absl::StatusOr<std::string> text = ReadFlagFile(line, name);
  if (text.ok() && !text->empty() && !absl::StrContains(*text, "-----BEGIN")) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": ", *line.Get(name), " is no PEM file"));
  }
  return text;
}

absl::StatusOr<std::optional<TlsOptions>> ReadTls(const CommandLine& line) {
  if (line.Has("cert") != line.Has("key")) {
    return absl::InvalidArgumentError("--cert and --key go together");
  }
  if (!line.Has("ca") && !line.Has("cert")) return std::nullopt;
  const absl::StatusOr<std::string> ca = ReadPemFile(line, "ca");
  if (!ca.ok()) return ca.status();
  const absl::StatusOr<std::string> certificate = ReadPemFile(line, "cert");
  if (!certificate.ok()) return certificate.status();
  const absl::StatusOr<std::string> key = ReadPemFile(line, "key");
  if (!key.ok()) return key.status();
  return TlsOptions{*ca, *certificate, *key};
}

absl::StatusOr<std::string> ReadToken(const CommandLine& line) {
  const absl::StatusOr<std::string> text = ReadFlagFile(line, "token-file");
  if (!text.ok()) return text;
  const absl::string_view first_line =
      *absl::StrSplit(absl::StripLeadingAsciiWhitespace(*text), '\n').begin();
  return std::string(absl::StripAsciiWhitespace(first_line));
}

}  // namespace

absl::Span<const FlagSpec> ConnectionFlags() { return kFlags; }

const char* ConnectionFlagsHelp() { return kHelp; }

std::string ConnectionWarning(const ConnectionOptions& options) {
  if (options.token.empty() || options.tls.has_value()) return "";
  const std::vector<std::string> addresses =
      absl::StrSplit(options.address, ',');
  if (std::all_of(addresses.begin(), addresses.end(), IsLoopbackAddress)) {
    return "";
  }
  return absl::StrCat("the token travels in the clear to ", options.address,
                      ", where others may read it; --ca=F uses TLS");
}

absl::StatusOr<ClientOptions> ReadConnectionFlags(const CommandLine& line) {
  ClientOptions options;
  if (auto address = line.Get("address"); address.has_value()) {
    options.connection.address = *std::move(address);
  }
  if (const auto text = line.Get("timeout"); text.has_value()) {
    const absl::StatusOr<absl::Duration> timeout = ParseDuration(*text);
    if (!timeout.ok() || *timeout <= absl::ZeroDuration()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--timeout: \"", *text,
                       "\" is no duration above 0, such as 500ms or 10s"));
    }
    options.timeout = *timeout;
  }
  absl::StatusOr<std::string> token = ReadToken(line);
  if (!token.ok()) return token.status();
  options.connection.token = *std::move(token);
  absl::StatusOr<std::optional<TlsOptions>> tls = ReadTls(line);
  if (!tls.ok()) return tls.status();
  options.connection.tls = *std::move(tls);
  if (absl::Status status = CheckConnectionOptions(options.connection);
      !status.ok()) {
    return status;
  }
  return options;
}

}  // namespace gatherd::client
