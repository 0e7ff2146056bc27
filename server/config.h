// The configuration of a server: what a YAML file, with environment overrides,
// says after it has been checked. Plain values, fixed once loaded.
#ifndef GATHERD_SERVER_CONFIG_H_
#define GATHERD_SERVER_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/catalog/catalog.h"
#include "server/log.h"

namespace gatherd {

// Paths of PEM files. docs/security.md says what they do.
struct TlsConfig {
  std::string certificate;
  std::string key;
  std::string client_ca;  // empty: clients need no certificate
};

// Paths of files of tokens; one of them may be empty.
struct AuthConfig {
  std::string read_tokens_file;
  std::string write_tokens_file;  // empty: nobody may write
};

struct ServerConfig {
  std::string address = "0.0.0.0:7400";
  std::string metrics_address = "0.0.0.0:7401";
  uint64_t max_message_bytes = uint64_t{64} << 20;
  uint64_t max_keys_per_request = 1'000'000;
  uint64_t max_inflight_bytes = uint64_t{1} << 30;
  absl::Duration default_deadline = absl::Seconds(1);
  absl::Duration reply_timeout = absl::Minutes(1);
  absl::Duration drain_delay = absl::ZeroDuration();
  absl::Duration shutdown_timeout = absl::Seconds(10);
  std::string health_address;      // empty: no port for health alone
  std::optional<TlsConfig> tls;    // none: plaintext
  std::optional<AuthConfig> auth;  // none: no call needs a token
  bool reflection = true;
};

struct DevicesConfig {
  enum class Kind : uint8_t {
    kAuto,  // every GPU, else the CPU backend with a warning
    kCuda,  // every GPU, or exit code 3
    kCpu,
    kList,  // these GPUs, or exit code 3
  };
  Kind kind = Kind::kAuto;
  std::vector<int> list;
};

struct Config {
  ServerConfig server;
  LogConfig log;
  DevicesConfig devices;
  std::vector<CatalogTableSpec> tables;  // paths made absolute
};

// Reads `path`, applies GATHERD_SERVER_* from the environment. INVALID_ARGUMENT
// `file:line:column: what is wrong, and what is allowed` (or the variable's
// name in place of the position), also for a file that is not there, `path`
// itself or one that `server.tls` or `server.auth` names.
absl::StatusOr<Config> LoadConfig(const std::string& path);

// The same for text already read, without the environment; `path` is for
// messages and relative paths.
absl::StatusOr<Config> ParseConfig(const std::string& text,
                                   const std::string& path);

// Every key that a file may have, as in "server.address" and
// "tables.tiers.rows".
std::vector<std::string> ConfigKeys();

// The effective configuration as YAML that LoadConfig reads back as the same.
std::string ConfigToYaml(const Config& config);

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_H_
