#include "server/config.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "server/config_access.h"
#include "server/config_document.h"
#include "server/config_environment.h"
#include "server/config_field.h"
#include "server/config_paths.h"
#include "server/config_server.h"
#include "server/config_table.h"
#include "server/config_tiers.h"
#include "server/config_value.h"

namespace gatherd {
namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr uint64_t kMaxDevice = 1023;

using ServerField = ConfigField<ServerConfig>;

absl::Status ReadDeviceList(const ConfigValue& value, DevicesConfig& devices) {
  std::set<uint64_t> seen;
  for (const ConfigNode& item : value.node().items) {
    const ConfigEntry entry = {value.entry.key, item.position, item};
    uint64_t device = 0;
    if (auto status =
            ReadInteger({entry, value.allowed}, {0, kMaxDevice}, device);
        !status.ok()) {
      return status;
    }
    if (!seen.insert(device).second) {
      return item.position.Error("`devices` lists " + item.Describe() +
                                 " twice; allowed: each GPU once");
    }
    devices.list.push_back(static_cast<int>(device));
  }
  devices.kind = DevicesConfig::Kind::kList;
  return devices.list.empty() ? value.Refuse() : absl::OkStatus();
}

const std::vector<std::pair<std::string_view, DevicesConfig::Kind>>&
DevicesWords() {
  static const auto& words =
      *new std::vector<std::pair<std::string_view, DevicesConfig::Kind>>{
          {"auto", DevicesConfig::Kind::kAuto},
          {"cuda", DevicesConfig::Kind::kCuda},
          {"cpu", DevicesConfig::Kind::kCpu}};
  return words;
}

absl::Status ReadDevices(const ConfigValue& value, Config& config) {
  if (value.node().kind == ConfigNode::Kind::kList) {
    return ReadDeviceList(value, config.devices);
  }
  return ReadWord(value, DevicesWords(), config.devices.kind);
}

std::string WriteDevices(const Config& config) {
  if (config.devices.kind != DevicesConfig::Kind::kList) {
    return WriteWord(DevicesWords(), config.devices.kind);
  }
  std::string out;
  for (const int device : config.devices.list) {
    out += (out.empty() ? "[" : ", ") + std::to_string(device);
  }
  return out + "]";
}

absl::Status ReadTables(const ConfigValue& value, Config& config) {
  if (value.node().kind != ConfigNode::Kind::kList) return value.Refuse();
  std::set<std::string> names;
  for (const ConfigNode& item : value.node().items) {
    CatalogTableSpec table;
    if (auto status = ReadTable(item, table); !status.ok()) return status;
    if (!names.insert(table.table.name).second) {
      return item.Find("name")->position.Error(
          "table \"" + table.table.name +
          "\" is configured twice; allowed: one table of a name");
    }
    config.tables.push_back(std::move(table));
  }
  return absl::OkStatus();
}

std::string WriteTables(const Config& config) {
  std::string out;
  for (const CatalogTableSpec& table : config.tables) {
    std::string lines = WriteSection(TableFields(), table, "    ");
    lines[2] = '-';
    lines.pop_back();  // the last line is ended by the caller
    out += "\n" + lines;
  }
  return out.empty() ? "[]" : out;
}

const std::vector<ConfigField<Config>>& ConfigFields() {
  static const auto& fields = *new std::vector<ConfigField<Config>>{
      {"server", "",
       [](const ConfigValue& value, Config& config) {
         return ReadSection(value.node(), "server", ServerFields(),
                            config.server);
       },
       [](const Config& config) {
         std::string lines = WriteSection(ServerFields(), config.server, "  ");
         lines.pop_back();
         return "\n" + lines;
       }},
      {"log", "",
       [](const ConfigValue& value, Config& config) {
         return ReadSection(value.node(), "log", LogFields(), config.log);
       },
       [](const Config& config) { return WriteFlow(LogFields(), config.log); }},
      {"devices",
       "auto, cuda, cpu, or a list of GPU numbers, 0 to 1023, as in [0, 1]",
       ReadDevices, WriteDevices},
      {"tables", "a list of tables; [] if there are none", ReadTables,
       WriteTables, ConfigField<Config>::Presence::kRequired},
  };
  return fields;
}

absl::Status ReadRoot(const ConfigNode& root, Config& config) {
  if (root.kind == ConfigNode::Kind::kNull) {
    return root.position.Error(
        "the file is empty; allowed: a map with at least `tables`, which may "
        "be []");
  }
  return ReadSection(root, "the configuration", ConfigFields(), config);
}

absl::Status ParseInto(const std::string& text, const std::string& path,
                       ConfigNode& root, Config& config) {
  absl::StatusOr<ConfigNode> parsed = ParseConfigDocument(text);
  if (!parsed.ok()) return parsed.status();
  root = *std::move(parsed);
  if (auto status = ReadRoot(root, config); !status.ok()) return status;
  const auto unusable = ResolvePaths(path, config);
  if (!unusable.has_value()) return absl::OkStatus();
  return root.Find("server")
      ->Find(unusable->key)
      ->position.Error(unusable->message);
}

absl::Status BehindPath(const std::string& path, const absl::Status& status) {
  return absl::InvalidArgumentError(path + ":" + std::string(status.message()));
}

absl::Status ReadFile(const std::string& path, std::string& text) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    return absl::InvalidArgumentError(path +
                                      ": is a folder; allowed: a YAML file");
  }
  std::ifstream file(path, std::ios::binary);
  text.resize(kMaxFileBytes + 1);
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return absl::InvalidArgumentError(
        path + ": cannot be read: " + std::strerror(errno));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) {
    return absl::InvalidArgumentError(
        path + ": is larger than 1 MiB; allowed: up to that");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Config> ParseConfig(const std::string& text,
                                   const std::string& path) {
  ConfigNode root;
  Config config;
  const absl::Status status = ParseInto(text, path, root, config);
  if (!status.ok()) return BehindPath(path, status);
  return config;
}

absl::StatusOr<Config> LoadConfig(const std::string& path) {
  std::string text;
  if (auto status = ReadFile(path, text); !status.ok()) return status;
  ConfigNode root;
  Config config;
  absl::Status status = ParseInto(text, path, root, config);
  if (status.ok()) status = CheckAccessPaths(root, config.server);
  if (!status.ok()) return BehindPath(path, status);
  status = ApplyEnvironment(config.server);
  if (!status.ok()) return status;
  // What the environment gave may be relative, too.
  if (const auto unusable = ResolvePaths(path, config)) {
    return absl::InvalidArgumentError(EnvironmentVariableOf(unusable->key) +
                                      ": " + unusable->message);
  }
  return config;
}

std::vector<std::string> ConfigKeys() {
  std::vector<std::string> all;
  const auto add = [&all](const std::string& section,
                          const std::vector<std::string_view>& keys) {
    for (const std::string_view key : keys) {
      all.push_back(section + std::string(key));
    }
  };
  add("", KeysOf(ConfigFields()));
  add("server.", KeysOf(ServerFields()));
  add("server.tls.", KeysOf(TlsFields()));
  add("server.auth.", KeysOf(AuthFields()));
  add("log.", KeysOf(LogFields()));
  add("tables.", KeysOf(TableFields()));
  add("tables.tiers.", KeysOf(TierFields(TierKind::kGpu)));
  add("tables.source.", KeysOf(SourceFields()));
  return all;
}

std::string ConfigToYaml(const Config& config) {
  return WriteSection(ConfigFields(), config, "");
}

}  // namespace gatherd
