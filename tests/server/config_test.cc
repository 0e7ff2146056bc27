#include "server/config.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace gatherd {
namespace {

Config Parse(const std::string& text, const std::string& path = "/c/c.yaml") {
  const absl::StatusOr<Config> config = ParseConfig(text, path);
  INFO(config.status());
  REQUIRE(config.ok());
  return *config;
}

// Every key with a value other than its default.
constexpr char kFull[] = R"(
server:
  address: "[::1]:0"
  metrics_address: localhost:65535
  max_message_bytes: 16MiB
  max_keys_per_request: 5K
  max_inflight_bytes: 3TiB
  default_deadline: 250ms
  reply_timeout: 30s
  drain_delay: 5s
  shutdown_timeout: 2m
  health_address: unix:health.sock
  reflection: false
  tls: {certificate: tls/c.pem, key: /k.pem, client_ca: ../ca.pem}
  auth: {read_tokens_file: r, write_tokens_file: w}
  snapshot_directory: ''
log: {level: debug, format: json}
devices: [3, 0, 1]
tables:
  - name: words
    dim: 100
    data_type: bfloat16
    key_space: hashed
    tiers:
      - gpu: {rows: 10M, spread: replicated}
      - host: {rows: 1G}
    eviction: lfu
    default_row: {constant: -0.1}
    missing_key_policy: error
    read_only: true
    source: {rows: words.npy, keys: ../keys/words.npy}
  - name: A-b_c.9
    dim: 8192
    data_type: int8
    key_space: dense
    tiers: [{host: {rows: 4294967294}}]
    default_row: zeros
    source:
      rows: /abs/rows.npy
)";

void CheckFull(const Config& config) {
  const ServerConfig& server = config.server;
  CHECK(server.address == "[::1]:0");
  CHECK(server.metrics_address == "localhost:65535");
  CHECK(server.max_message_bytes == 16 << 20);
  CHECK(server.max_keys_per_request == 5000);
  CHECK(server.max_inflight_bytes == uint64_t{3} << 40);
  CHECK(server.default_deadline == absl::Milliseconds(250));
  CHECK(server.reply_timeout == absl::Seconds(30));
  CHECK(server.drain_delay == absl::Seconds(5));
  CHECK(server.shutdown_timeout == absl::Minutes(2));
  CHECK(server.health_address == "unix:/c/health.sock");
  CHECK_FALSE(server.reflection);
  REQUIRE(server.tls.has_value());
  CHECK(server.tls->certificate == "/c/tls/c.pem");
  CHECK(server.tls->key == "/k.pem");
  CHECK(server.tls->client_ca == "/ca.pem");
  REQUIRE(server.auth.has_value());
  CHECK(server.auth->read_tokens_file == "/c/r");
  CHECK(server.auth->write_tokens_file == "/c/w");
  CHECK(config.log.level == LogLevel::kDebug);
  CHECK(config.log.format == LogFormat::kJson);
  CHECK(config.devices.kind == DevicesConfig::Kind::kList);
  CHECK(config.devices.list == std::vector<int>{3, 0, 1});
  REQUIRE(config.tables.size() == 2);

  const TableSpec& words = config.tables[0].table;
  CHECK(words.name == "words");
  CHECK(words.dim == 100);
  CHECK(words.data_type == DataType::kBFloat16);
  CHECK(words.key_space == KeySpace::kHashed);
  REQUIRE(words.tiers.size() == 2);
  CHECK(words.tiers[0].kind == TierKind::kGpu);
  CHECK(words.tiers[0].rows == 10'000'000);
  CHECK(words.tiers[0].spread == Spread::kReplicated);
  CHECK(words.tiers[1].kind == TierKind::kHost);
  CHECK(words.tiers[1].rows == 1'000'000'000);
  CHECK(words.tiers[1].spread == Spread::kSharded);
  CHECK(words.eviction == Eviction::kLfu);
  CHECK(words.default_value == -0.1f);
  CHECK(words.missing_key_policy == MissingKeyPolicy::kError);
  CHECK(words.read_only);
  CHECK(config.tables[0].source.rows_path == "/c/words.npy");
  CHECK(config.tables[0].source.keys_path == "/keys/words.npy");

  const TableSpec& dense = config.tables[1].table;
  CHECK(dense.name == "A-b_c.9");
  CHECK(dense.dim == 8192);
  CHECK(dense.data_type == DataType::kInt8);
  CHECK(dense.key_space == KeySpace::kDense);
  REQUIRE(dense.tiers.size() == 1);
  CHECK(dense.tiers[0].rows == 4'294'967'294);
  CHECK(dense.eviction == Eviction::kNone);
  CHECK(dense.default_value == 0);
  CHECK(dense.missing_key_policy == MissingKeyPolicy::kDefaultRow);
  CHECK_FALSE(dense.read_only);
  CHECK(config.tables[1].source.rows_path == "/abs/rows.npy");
  CHECK(config.tables[1].source.keys_path.empty());
}

TEST_CASE("Every key is read", "[config]") { CheckFull(Parse(kFull)); }

TEST_CASE("The least configuration gives the defaults", "[config]") {
  const Config config = Parse("tables: []");
  CHECK(config.tables.empty());
  CHECK(config.server.address == "0.0.0.0:7400");
  CHECK(config.server.metrics_address == "0.0.0.0:7401");
  CHECK(config.server.max_message_bytes == 64 << 20);
  CHECK(config.server.max_keys_per_request == 1'000'000);
  CHECK(config.server.max_inflight_bytes == 1 << 30);
  CHECK(config.server.default_deadline == absl::Seconds(1));
  CHECK(config.server.reply_timeout == absl::Minutes(1));
  CHECK(config.server.drain_delay == absl::ZeroDuration());
  CHECK(config.server.shutdown_timeout == absl::Seconds(10));
  CHECK(config.log.level == LogLevel::kInfo);
  CHECK(config.log.format == LogFormat::kText);
  CHECK(config.devices.kind == DevicesConfig::Kind::kAuto);
}

TEST_CASE("The least table gives the defaults", "[config]") {
  const Config config =
      Parse("tables: [{name: t, dim: 1, tiers: [{gpu: {rows: 1}}]}]");
  const TableSpec& table = config.tables.at(0).table;
  CHECK(table.data_type == DataType::kFloat32);
  CHECK(table.key_space == KeySpace::kHashed);
  CHECK(table.tiers[0].spread == Spread::kSharded);
  CHECK(table.eviction == Eviction::kNone);
  CHECK(table.default_value == 0);
  CHECK(table.missing_key_policy == MissingKeyPolicy::kDefaultRow);
  CHECK_FALSE(table.read_only);
  CHECK(config.tables[0].source.empty());
}

TEST_CASE("Files may have a byte order mark, CRLF and a document's marks",
          "[config]") {
  CHECK(Parse("\xEF\xBB\xBFtables: []").tables.empty());
  CHECK(Parse("# c\r\n---\r\ndevices: cpu\r\ntables: []\r\n...\r\n")
            .devices.kind == DevicesConfig::Kind::kCpu);
}

TEST_CASE("Addresses", "[config]") {
  for (const char* address :
       {"localhost:1", "127.0.0.1:0", "[::]:7400", "[fe80::1%eth0]:1",
        "a.b-c_d:65535", "unix:/run/gatherd.sock"}) {
    const Config config = Parse("server: {address: \"" + std::string(address) +
                                "\"}\ntables: []");
    CHECK(config.server.address == address);
  }
}

TEST_CASE("Relative paths start at the configuration file's folder",
          "[config]") {
  const std::string tables =
      "tables: [{name: t, dim: 1, key_space: dense, tiers: [{gpu: {rows: 1}}], "
      "source: {rows: r.npy}}]";
  const Config in_folder =
      Parse("server: {address: 'unix:s/g.sock'}\n" + tables, "/etc/x/c.yaml");
  CHECK(in_folder.server.address == "unix:/etc/x/s/g.sock");
  CHECK(in_folder.tables[0].source.rows_path == "/etc/x/r.npy");
  const std::string here = std::filesystem::current_path().string();
  for (const char* path : {"c.yaml", "./c.yaml", "d/../c.yaml"}) {
    CHECK(Parse(tables, path).tables[0].source.rows_path == here + "/r.npy");
  }
}

TEST_CASE("The effective configuration reads back as the same", "[config]") {
  const Config full = Parse(kFull);
  const std::string yaml = ConfigToYaml(full);
  INFO(yaml);
  const Config again = Parse(yaml, "/elsewhere/d.yaml");
  CheckFull(again);
  CHECK(ConfigToYaml(again) == yaml);
  const std::string least = ConfigToYaml(Parse("tables: []"));
  CHECK(ConfigToYaml(Parse(least)) == least);
}

TEST_CASE("The effective configuration shows every value", "[config]") {
  CHECK(ConfigToYaml(Parse("tables: [{name: t, dim: 1, tiers: [{gpu: {rows: "
                           "1000}}, {host: {rows: 1001}}]}]")) ==
        R"(server:
  address: "0.0.0.0:7400"
  metrics_address: "0.0.0.0:7401"
  max_message_bytes: 64MiB
  max_keys_per_request: 1M
  max_inflight_bytes: 1GiB
  default_deadline: 1s
  reply_timeout: 1m
  drain_delay: 0s
  shutdown_timeout: 10s
  health_address: ""
  snapshot_directory: ""
  reflection: true
log: {level: info, format: text}
devices: auto
tables:
  - name: "t"
    dim: 1
    data_type: float32
    key_space: hashed
    tiers:
      - gpu: {rows: 1K, spread: sharded}
      - host: {rows: 1001}
    eviction: none
    default_row: zeros
    missing_key_policy: default_row
    read_only: false
)");
}

TEST_CASE("Odd values read back as the same", "[config]") {
  Config config = Parse(kFull);
  config.server.max_message_bytes = (1u << 31) - 1;
  config.server.max_inflight_bytes = std::numeric_limits<uint64_t>::max();
  config.server.default_deadline = absl::Microseconds(1234567);
  config.server.drain_delay = absl::Microseconds(7);
  config.tables[0].source.rows_path = "/a b/\"q\"\\\n\t#: {é}.npy";
  for (const float constant :
       {0.1f, 1e-45f, -3.0e-5f, 0x1.FEp127f, 16777217.0f}) {
    config.tables[0].table.default_value = constant;
    const Config again = Parse(ConfigToYaml(config));
    CHECK(again.server.max_message_bytes == config.server.max_message_bytes);
    CHECK(again.server.max_inflight_bytes == config.server.max_inflight_bytes);
    CHECK(again.server.default_deadline == config.server.default_deadline);
    CHECK(again.server.drain_delay == config.server.drain_delay);
    CHECK(again.tables[0].source.rows_path ==
          config.tables[0].source.rows_path);
    CHECK(again.tables[0].table.default_value == constant);
  }
}

TEST_CASE("Files that cannot be read are refused by name", "[config]") {
  CHECK(LoadConfig("/no/such.yaml").status().message() ==
        "/no/such.yaml: cannot be read: No such file or directory");
  CHECK(LoadConfig("/").status().message() ==
        "/: is a folder; allowed: a YAML file");
  CHECK(LoadConfig("/dev/zero").status().message() ==
        "/dev/zero: is larger than 1 MiB; allowed: up to that");
}

// A variable of the environment while it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    setenv(name, value, 1);
  }
  ~Variable() { unsetenv(name_); }

 private:
  const char* const name_;
};

class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text)
      // Not below TEST_TMPDIR: a socket's path must be short.
      : path_(std::filesystem::path("/tmp") /
              ("gatherd_config_test_" + std::to_string(getpid()) + ".yaml")) {
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
};

TEST_CASE("The environment overrides scalar keys of server", "[config]") {
  const ConfigFile file("server: {address: a:1, drain_delay: 1s}\ntables: []");
  const Variable address("GATHERD_SERVER_ADDRESS", "unix:x.sock");
  const Variable metrics("GATHERD_SERVER_METRICS_ADDRESS", "b:2");
  const Variable message("GATHERD_SERVER_MAX_MESSAGE_BYTES", "1KiB");
  const Variable keys("GATHERD_SERVER_MAX_KEYS_PER_REQUEST", "2K");
  const Variable inflight("GATHERD_SERVER_MAX_INFLIGHT_BYTES", "3GiB");
  const Variable deadline("GATHERD_SERVER_DEFAULT_DEADLINE", "4ms");
  const Variable timeout("GATHERD_SERVER_SHUTDOWN_TIMEOUT", "5m");
  const Variable health("GATHERD_SERVER_HEALTH_ADDRESS", "[::1]:3");
  const Variable reflection("GATHERD_SERVER_REFLECTION", "false");
  const absl::StatusOr<Config> config = LoadConfig(file.path());
  INFO(config.status());
  REQUIRE(config.ok());
  CHECK(config->server.address == "unix:/tmp/x.sock");
  CHECK(config->server.metrics_address == "b:2");
  CHECK(config->server.max_message_bytes == 1024);
  CHECK(config->server.max_keys_per_request == 2000);
  CHECK(config->server.max_inflight_bytes == uint64_t{3} << 30);
  CHECK(config->server.default_deadline == absl::Milliseconds(4));
  CHECK(config->server.drain_delay == absl::Seconds(1));
  CHECK(config->server.shutdown_timeout == absl::Minutes(5));
  CHECK(config->server.health_address == "[::1]:3");
  CHECK_FALSE(config->server.reflection);
}

TEST_CASE("A wrong override is refused naming the variable", "[config]") {
  const ConfigFile file("tables: []");
  {
    const Variable wrong("GATHERD_SERVER_DRAIN_DELAY", "soon");
    CHECK(LoadConfig(file.path()).status().message() ==
          "GATHERD_SERVER_DRAIN_DELAY: `drain_delay` is `soon`; allowed: 0s to "
          "1440m, with us, ms, s or m as in 5s");
  }
  const std::string long_name(107, 'a');
  const Variable health("GATHERD_SERVER_HEALTH_ADDRESS",
                        ("unix:" + long_name).c_str());
  CHECK(LoadConfig(file.path()).status().message() ==
        "GATHERD_SERVER_HEALTH_ADDRESS: `health_address` is `unix:/tmp/" +
            long_name +
            "`, too long for a socket; allowed: a path of up to "
            "107 bytes");
}

}  // namespace
}  // namespace gatherd
