// The sections `server.tls` and `server.auth` of the configuration: paths of
// files, never what is in them.
#ifndef GATHERD_SERVER_CONFIG_ACCESS_H_
#define GATHERD_SERVER_CONFIG_ACCESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/config.h"
#include "server/config_document.h"
#include "server/config_field.h"

namespace gatherd {

const std::vector<ConfigField<TlsConfig>>& TlsFields();
const std::vector<ConfigField<AuthConfig>>& AuthFields();

// As fields of `server`. A section that is not there is written as nothing.
absl::Status ReadTls(const ConfigValue& value, ServerConfig& server);
absl::Status ReadAuth(const ConfigValue& value, ServerConfig& server);
std::string WriteTls(const ServerConfig& server);
std::string WriteAuth(const ServerConfig& server);

// One path of `server.tls` or `server.auth`, and where it stands.
struct AccessPath {
  std::string_view section;
  std::string_view key;
  std::string* path;
};

// Those that are given.
std::vector<AccessPath> AccessPaths(ServerConfig& server);

// INVALID_ARGUMENT "LINE:COLUMN: …" at the first file that cannot be read.
// `root` is the document that `server` was read from.
absl::Status CheckAccessPaths(const ConfigNode& root, ServerConfig server);

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_ACCESS_H_
