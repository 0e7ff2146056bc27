// Feeds text to the parser of configurations.

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "core/table/table_spec.h"
#include "server/check.h"
#include "server/config.h"
#include "tests/fuzz/fuzz_target.h"

namespace gatherd {
namespace {

constexpr char kPath[] = "/c.yaml";

// What is accepted is sound, and means the same when it is written out.
void CheckAccepted(const Config& config) {
  for (const CatalogTableSpec& table : config.tables) {
    FuzzRequire(ValidateTableSpec(table.table).ok());
  }
  const auto report = CheckReport(config, 3);
  FuzzRequire(report.ok() ? !report->empty()
                          : absl::IsInvalidArgument(report.status()));
  const std::string yaml = ConfigToYaml(config);
  const absl::StatusOr<Config> again = ParseConfig(yaml, "/d.yaml");
  FuzzRequire(again.ok());
  FuzzRequire(ConfigToYaml(*again) == yaml);
}

// Takes a number from the front of *text; 0 if there is none.
size_t TakeNumber(std::string_view* text) {
  size_t number = 0;
  while (!text->empty() && std::isdigit(text->front()) != 0) {
    number = number * 10 + static_cast<size_t>(text->front() - '0');
    text->remove_prefix(1);
  }
  return number;
}

// "/c.yaml:LINE:COLUMN: ...", a place in the text or at its end, in one line.
void CheckRefused(const absl::Status& status, std::string_view text) {
  FuzzRequire(absl::IsInvalidArgument(status));
  const std::string message(status.message());
  FuzzRequire(std::none_of(message.begin(), message.end(), [](char c) {
    return c == 0x7F || (c >= 0 && c < ' ');
  }));
  std::string_view rest = message;
  FuzzRequire(rest.substr(0, sizeof(kPath)) == std::string(kPath) + ":");
  rest.remove_prefix(sizeof(kPath));
  const size_t line = TakeNumber(&rest);
  const auto num_lines = std::count(text.begin(), text.end(), '\n') + 1;
  FuzzRequire(line >= 1 && line <= static_cast<size_t>(num_lines));
  FuzzRequire(rest.substr(0, 1) == ":");
  rest.remove_prefix(1);
  const size_t column = TakeNumber(&rest);
  FuzzRequire(column >= 1 && column <= text.size() + 1);
  FuzzRequire(rest.substr(0, 2) == ": ");
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  return {
      "tables: []\n",
      "server:\n"
      "  address: \"[::1]:0\"\n"
      "  metrics_address: localhost:65535\n"
      "  max_message_bytes: 16MiB\n"
      "  max_keys_per_request: 5K\n"
      "  max_inflight_bytes: 3TiB\n"
      "  default_deadline: 250ms\n"
      "  reply_timeout: 1m\n"
      "  drain_delay: 0\n"
      "  shutdown_timeout: 2m\n"
      "  health_address: unix:h\n"
      "  reflection: false\n"
      "  tls: {certificate: a/c, key: /k, client_ca: ../x}\n"
      "  auth: {read_tokens_file: r, write_tokens_file: w}\n"
      "log: {level: debug, format: json}\n"
      "devices: [3, 0, 1]\n"
      "tables: []\n",
      "server: {address: 'unix:a/../b.sock'}\r\n"
      "devices: cpu  # here\r\n"
      "tables:\r\n"
      "- {name: t, dim: 1, tiers: [{gpu: {rows: 1}}]}\r\n",
      "tables:\n"
      "  - name: \"w\\x6Frds\"\n"
      "    dim: 100\n"
      "    data_type: bfloat16\n"
      "    key_space: hashed\n"
      "    tiers:\n"
      "      - gpu: {rows: 10M, spread: replicated}\n"
      "      - host: {rows: 4G}\n"
      "    eviction: lfu\n"
      "    default_row: {constant: -1.5e-3}\n"
      "    missing_key_policy: error\n"
      "    read_only: true\n"
      "    source: {rows: w\xC3\xB6rter.npy, keys: ../keys.npy}\n"
      "  - name: dense\n"
      "    dim: 8192\n"
      "    key_space: dense\n"
      "    data_type: int8\n"
      "    tiers: [host: {rows: 4294967294}]\n"
      "    source: {rows: |\n"
      "      folded\n"
      "    }\n",
      "a: &x {b: 1}\nc: {<<: *x}\n? [1, 2]\n: !!str z\n--- >-\n text\n...\n",
      "%YAML 1.2\n---\n- 'it''s'\n- \"\\u00e9\\\n  b\"\n- |2-\n    x\n- {a, b: "
      "}\n",
  };
}

}  // namespace gatherd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto config = gatherd::ParseConfig(text, gatherd::kPath);
  if (config.ok()) {
    gatherd::CheckAccepted(*config);
  } else {
    gatherd::CheckRefused(config.status(), text);
  }
  return 0;
}
