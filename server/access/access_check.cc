#include "server/access/access_check.h"

#include "cli/loopback.h"
#include "server/access/access_control.h"
#include "server/access/server_certificates.h"

namespace gatherd {

absl::Status CheckAccessFiles(const ServerConfig& config) {
  if (config.tls.has_value()) {
    const auto certificates = ReadCertificates(*config.tls);
    if (!certificates.ok()) return certificates.status();
  }
  if (config.auth.has_value()) {
    const auto tokens = ReadTokens(*config.auth);
    if (!tokens.ok()) return tokens.status();
  }
  return absl::OkStatus();
}

std::vector<std::string> AccessWarnings(const ServerConfig& config) {
  std::vector<std::string> warnings;
  const bool encrypted = config.tls.has_value();
  const bool asks_who_calls =
      config.auth.has_value() || (encrypted && !config.tls->client_ca.empty());
  if (!asks_who_calls && !IsLoopbackAddress(config.address)) {
    warnings.push_back(
        "anyone who reaches " + config.address +
        " may read and change every table: neither `server.auth` nor "
        "`server.tls.client_ca` is set");
  }
  if (config.auth.has_value() && !encrypted) {
    warnings.push_back(
        "tokens travel in the clear: `server.auth` is set without "
        "`server.tls`");
  }
  return warnings;
}

}  // namespace gatherd
