#include "server/config_access.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "server/config_value.h"

namespace gatherd {
namespace {

constexpr char kCertificates[] = "the path of a PEM file of certificates";
constexpr char kKey[] = "the path of a PEM file of a private key";
constexpr char kTokens[] = "the path of a file with one token a line";

absl::Status ReadPath(const ConfigValue& value, std::string& out) {
  std::string path;
  if (auto status = ReadText(value, path); !status.ok()) return status;
  if (path.empty() || path.find('\0') != std::string::npos) {
    return value.Refuse();
  }
  out = std::move(path);
  return absl::OkStatus();
}

std::string WritePath(const std::string& path) {
  return path.empty() ? "" : WriteText(path);
}

// Empty if it can be read.
std::string WhyUnreadable(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || access(path.c_str(), R_OK) != 0) {
    return std::string("cannot be read: ") + std::strerror(errno);
  }
  return S_ISREG(info.st_mode) ? "" : "is not a file";
}

}  // namespace

const std::vector<ConfigField<TlsConfig>>& TlsFields() {
  using Field = ConfigField<TlsConfig>;
  static const auto& fields = *new std::vector<Field>{
      {"certificate", kCertificates,
       [](const ConfigValue& value, TlsConfig& tls) {
         return ReadPath(value, tls.certificate);
       },
       [](const TlsConfig& tls) { return WritePath(tls.certificate); },
       Field::Presence::kRequired},
      {"key", kKey,
       [](const ConfigValue& value, TlsConfig& tls) {
         return ReadPath(value, tls.key);
       },
       [](const TlsConfig& tls) { return WritePath(tls.key); },
       Field::Presence::kRequired},
      {"client_ca", kCertificates,
       [](const ConfigValue& value, TlsConfig& tls) {
         return ReadPath(value, tls.client_ca);
       },
       [](const TlsConfig& tls) { return WritePath(tls.client_ca); }},
  };
  return fields;
}

const std::vector<ConfigField<AuthConfig>>& AuthFields() {
  static const auto& fields = *new std::vector<ConfigField<AuthConfig>>{
      {"read_tokens_file", kTokens,
       [](const ConfigValue& value, AuthConfig& auth) {
         return ReadPath(value, auth.read_tokens_file);
       },
       [](const AuthConfig& auth) { return WritePath(auth.read_tokens_file); }},
      {"write_tokens_file", kTokens,
       [](const ConfigValue& value, AuthConfig& auth) {
         return ReadPath(value, auth.write_tokens_file);
       },
       [](const AuthConfig& auth) {
         return WritePath(auth.write_tokens_file);
       }},
  };
  return fields;
}

absl::Status ReadTls(const ConfigValue& value, ServerConfig& server) {
  return ReadSection(value.node(), "server.tls", TlsFields(),
                     server.tls.emplace());
}

absl::Status ReadAuth(const ConfigValue& value, ServerConfig& server) {
  const ConfigNode& node = value.node();
  // It would lock everybody out.
  if (node.kind == ConfigNode::Kind::kMap && node.entries.empty()) {
    return node.position.Error(
        "server.auth is empty; allowed: read_tokens_file, write_tokens_file or "
        "both");
  }
  return ReadSection(node, "server.auth", AuthFields(), server.auth.emplace());
}

std::string WriteTls(const ServerConfig& server) {
  return server.tls.has_value() ? WriteFlow(TlsFields(), *server.tls) : "";
}

std::string WriteAuth(const ServerConfig& server) {
  return server.auth.has_value() ? WriteFlow(AuthFields(), *server.auth) : "";
}

std::vector<AccessPath> AccessPaths(ServerConfig& server) {
  std::vector<AccessPath> paths;
  const auto add = [&paths](std::string_view section, std::string_view key,
                            std::string& path) {
    if (!path.empty()) paths.push_back({section, key, &path});
  };
  if (server.tls.has_value()) {
    add("tls", "certificate", server.tls->certificate);
    add("tls", "key", server.tls->key);
    add("tls", "client_ca", server.tls->client_ca);
  }
  if (server.auth.has_value()) {
    add("auth", "read_tokens_file", server.auth->read_tokens_file);
    add("auth", "write_tokens_file", server.auth->write_tokens_file);
  }
  return paths;
}

absl::Status CheckAccessPaths(const ConfigNode& root, ServerConfig server) {
  for (const AccessPath& access_path : AccessPaths(server)) {
    const std::string why = WhyUnreadable(*access_path.path);
    if (why.empty()) continue;
    const ConfigNode& section = *root.Find("server")->Find(access_path.section);
    return section.Find(access_path.key)
        ->position.Error("`" + std::string(access_path.key) + "` is `" +
                         *access_path.path + "`, which " + why +
                         "; allowed: the path of a file that is there");
  }
  return absl::OkStatus();
}

}  // namespace gatherd
