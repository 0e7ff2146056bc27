#include "server/config_server.h"

#include <limits>
#include <string>

#include "absl/time/time.h"
#include "server/config_access.h"
#include "server/config_address.h"
#include "server/config_value.h"

namespace gatherd {
namespace {

// gRPC holds the size of a message in an int.
constexpr uint64_t kMaxMessageBytes = std::numeric_limits<int32_t>::max();
// The wire counts the rows of a reply with 32 bits.
constexpr uint64_t kMaxKeys = std::numeric_limits<uint32_t>::max();
constexpr uint64_t kMaxBytes = std::numeric_limits<uint64_t>::max();

// Longer is surely a mistake, and far from where clocks overflow.
absl::Duration Longest() { return absl::Hours(24); }

const std::vector<std::pair<std::string_view, LogLevel>>& LogLevels() {
  static const auto& words =
      *new std::vector<std::pair<std::string_view, LogLevel>>{
          {"debug", LogLevel::kDebug},
          {"info", LogLevel::kInfo},
          {"warning", LogLevel::kWarning},
          {"error", LogLevel::kError}};
  return words;
}

const std::vector<std::pair<std::string_view, LogFormat>>& LogFormats() {
  static const auto& words =
      *new std::vector<std::pair<std::string_view, LogFormat>>{
          {"text", LogFormat::kText}, {"json", LogFormat::kJson}};
  return words;
}

absl::Status ReadAddress(const ConfigValue& value, ServerConfig& server) {
  const std::string& text = value.node().text;
  if (!IsHostPort(text) && !IsUnixAddress(text)) return value.Refuse();
  return ReadText(value, server.address);
}

absl::Status ReadMetricsAddress(const ConfigValue& value,
                                ServerConfig& server) {
  if (!IsHostPort(value.node().text)) return value.Refuse();
  return ReadText(value, server.metrics_address);
}

absl::Status ReadHealthAddress(const ConfigValue& value, ServerConfig& server) {
  const std::string& text = value.node().text;
  if (!text.empty() && !IsHostPort(text) && !IsUnixAddress(text)) {
    return value.Refuse();
  }
  return ReadText(value, server.health_address);
}

// A setting of a later version: only as good as left out.
absl::Status ReadEmpty(const ConfigValue& value, ServerConfig&) {
  std::string text;
  if (auto status = ReadText(value, text); !status.ok()) return status;
  return text.empty() ? absl::OkStatus() : value.RefuseForNow();
}

std::string WriteEmpty(const ServerConfig&) { return WriteText(""); }

}  // namespace

const std::vector<ConfigField<ServerConfig>>& ServerFields() {
  static const auto& fields = *new std::vector<ConfigField<ServerConfig>>{
      {"address",
       "host:port, [ipv6]:port or unix:path, the port from 0 to 65535",
       ReadAddress,
       [](const ServerConfig& server) { return WriteText(server.address); }},
      {"metrics_address", "host:port or [ipv6]:port, the port from 0 to 65535",
       ReadMetricsAddress,
       [](const ServerConfig& server) {
         return WriteText(server.metrics_address);
       }},
      {"max_message_bytes",
       "1 to 2147483647 bytes, with KiB, MiB or GiB as in 64MiB",
       [](const ConfigValue& value, ServerConfig& server) {
         return ReadByteSize(value, {1, kMaxMessageBytes},
                             server.max_message_bytes);
       },
       [](const ServerConfig& server) {
         return WriteByteSize(server.max_message_bytes);
       }},
      {"max_keys_per_request", "1 to 4294967295, with K, M or G as in 1M",
       [](const ConfigValue& value, ServerConfig& server) {
         return ReadRowCount(value, {1, kMaxKeys}, server.max_keys_per_request);
       },
       [](const ServerConfig& server) {
         return WriteRowCount(server.max_keys_per_request);
       }},
      {"max_inflight_bytes",
       "at least 1 byte, with KiB, MiB, GiB or TiB as in 1GiB",
       [](const ConfigValue& value, ServerConfig& server) {
         return ReadByteSize(value, {1, kMaxBytes}, server.max_inflight_bytes);
       },
       [](const ServerConfig& server) {
         return WriteByteSize(server.max_inflight_bytes);
       }},
      {"default_deadline", "1us to 1440m, with us, ms, s or m as in 500ms",
       [](const ConfigValue& value, ServerConfig& server) {
         return ReadDuration(value, {absl::Microseconds(1), Longest()},
                             server.default_deadline);
       },
       [](const ServerConfig& server) {
         return WriteDuration(server.default_deadline);
       }},
      {"reply_timeout", "1ms to 1440m, with us, ms, s or m as in 1m",
       [](const ConfigValue& value, ServerConfig& server) {
         return ReadDuration(value, {absl::Milliseconds(1), Longest()},
                             server.reply_timeout);
       },
       [](const ServerConfig& server) {
         return WriteDuration(server.reply_timeout);
       }},
      {"drain_delay", "0s to 1440m, with us, ms, s or m as in 5s",
       [](const ConfigValue& value, ServerConfig& server) {
         return ReadDuration(value, {absl::ZeroDuration(), Longest()},
                             server.drain_delay);
       },
       [](const ServerConfig& server) {
         return WriteDuration(server.drain_delay);
       }},
      {"shutdown_timeout", "0s to 1440m, with us, ms, s or m as in 10s",
       [](const ConfigValue& value, ServerConfig& server) {
         return ReadDuration(value, {absl::ZeroDuration(), Longest()},
                             server.shutdown_timeout);
       },
       [](const ServerConfig& server) {
         return WriteDuration(server.shutdown_timeout);
       }},
      {"health_address",
       "\"\", host:port, [ipv6]:port or unix:path, the port from 0 to 65535",
       ReadHealthAddress,
       [](const ServerConfig& server) {
         return WriteText(server.health_address);
       }},
      {"snapshot_directory", "\"\", nothing else in this version", ReadEmpty,
       WriteEmpty},
      {"reflection", "true or false",
       [](const ConfigValue& value, ServerConfig& server) {
         return ReadBool(value, server.reflection);
       },
       [](const ServerConfig& server) { return WriteBool(server.reflection); }},
      {"tls", "", ReadTls, WriteTls},
      {"auth", "", ReadAuth, WriteAuth},
  };
  return fields;
}

const std::vector<ConfigField<LogConfig>>& LogFields() {
  static const auto& fields = *new std::vector<ConfigField<LogConfig>>{
      {"level", "debug, info, warning or error",
       [](const ConfigValue& value, LogConfig& log) {
         return ReadWord(value, LogLevels(), log.level);
       },
       [](const LogConfig& log) { return WriteWord(LogLevels(), log.level); }},
      {"format", "text or json",
       [](const ConfigValue& value, LogConfig& log) {
         return ReadWord(value, LogFormats(), log.format);
       },
       [](const LogConfig& log) {
         return WriteWord(LogFormats(), log.format);
       }},
  };
  return fields;
}

}  // namespace gatherd
