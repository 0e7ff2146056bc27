#include "server/config_paths.h"

#include <filesystem>
#include <system_error>

#include "server/config_access.h"
#include "server/config_address.h"

namespace gatherd {
namespace {

namespace fs = std::filesystem;

void Resolve(const fs::path& folder, std::string& path) {
  if (!path.empty()) path = (folder / path).lexically_normal().string();
}

// Of a Unix socket alone; other addresses stay as they are.
std::optional<UnusablePath> ResolveAddress(const fs::path& folder,
                                           std::string_view key,
                                           std::string& address) {
  if (!IsUnixAddress(address)) return std::nullopt;
  std::string path = address.substr(kUnixPrefix.size());
  Resolve(folder, path);
  address = std::string(kUnixPrefix) + path;
  if (IsUnixAddress(address)) return std::nullopt;
  return UnusablePath{
      key, "`" + std::string(key) + "` is `" + address +
               "`, too long for a socket; allowed: a path of up to 107 bytes"};
}

}  // namespace

std::optional<UnusablePath> ResolvePaths(const std::string& file,
                                         Config& config) {
  std::error_code failed;
  const fs::path absolute = fs::absolute(file, failed);
  const fs::path folder = (failed ? fs::path(file) : absolute).parent_path();
  ServerConfig& server = config.server;
  for (const AccessPath& access_path : AccessPaths(server)) {
    Resolve(folder, *access_path.path);
  }
  for (CatalogTableSpec& table : config.tables) {
    Resolve(folder, table.source.rows_path);
    Resolve(folder, table.source.keys_path);
  }
  if (auto fault = ResolveAddress(folder, "address", server.address)) {
    return fault;
  }
  return ResolveAddress(folder, "health_address", server.health_address);
}

}  // namespace gatherd
