#include "server/check.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/shard/gpu_layout.h"
#include "core/table/cpu_table.h"

namespace gatherd {
namespace {

constexpr char kTables[] = R"(
tables:
  - name: words
    dim: 100
    tiers: [{gpu: {rows: 10K}}, {host: {rows: 100K}}]
  - name: ids
    dim: 3
    data_type: int8
    key_space: dense
    tiers: [{gpu: {rows: 1K}}]
)";

Config Parse(const std::string& devices, const std::string& tables = kTables) {
  const auto config = ParseConfig("devices: " + devices + tables, "/c.yaml");
  INFO(config.status());
  REQUIRE(config.ok());
  return *config;
}

// The documents behind the configuration.
std::string MemoryOf(const Config& config, uint32_t num_gpus) {
  const std::string yaml = ConfigToYaml(config);
  const auto report = CheckReport(config, num_gpus);
  INFO(report.status());
  REQUIRE(report.ok());
  REQUIRE(report->substr(0, yaml.size()) == yaml);
  return report->substr(yaml.size());
}

// `text` holds `line` once, the digits of `bytes` in place of its $.
void CheckLine(const std::string& text, std::string line, uint64_t bytes) {
  line.replace(line.find('$'), 1, std::to_string(bytes));
  CAPTURE(text, line);
  const size_t at = text.find(line);
  CHECK(at != std::string::npos);
  CHECK(text.find(line, at + 1) == std::string::npos);
}

std::string Line(const std::string& table, const std::string& tier,
                 const std::string& device, uint64_t rows) {
  return "  - {table: \"" + table + "\", tier: " + tier +
         ", device: " + device + ", rows: " + std::to_string(rows) +
         ", bytes: $}  # ";
}

TEST_CASE("The CPU backend takes what its tables will take", "[check]") {
  const Config config = Parse("cpu");
  const std::string memory = MemoryOf(config, 4);
  const uint64_t words = CpuTableMemoryBytes(config.tables[0].table);
  const uint64_t ids = CpuTableMemoryBytes(config.tables[1].table);
  CHECK(words > 100'000 * 400);
  CHECK(memory.rfind("---\nbackend: cpu\nmemory:\n", 0) == 0);
  CHECK(memory.find("cuda") == std::string::npos);
  CheckLine(memory, Line("words", "gpu", "host", 10'000) + "0 B\n", 0);
  CheckLine(memory, Line("words", "host", "host", 100'000), words);
  CheckLine(memory, Line("ids", "gpu", "host", 1'000), ids);
  CheckLine(memory, "\ntotal:\n  - {device: host, bytes: $}", words + ids);
}

TEST_CASE("Listed GPUs take their shares", "[check]") {
  const Config config = Parse("[5, 2]");
  const std::string memory = MemoryOf(config, 1);
  const TableSpec& words = config.tables[0].table;
  const TableSpec& ids = config.tables[1].table;
  const auto word_layout = PlanGpuTable(words, 2);
  const auto id_layout = PlanGpuTable(ids, 2);
  REQUIRE(word_layout.ok());
  REQUIRE(id_layout.ok());
  const uint64_t word_bytes = word_layout->bytes_per_device;
  const uint64_t id_bytes = id_layout->bytes_per_device;
  CHECK(memory.rfind("---\nbackend: cuda\nmemory:\n", 0) == 0);
  CHECK(memory.find("backend: cpu") == std::string::npos);
  for (const std::string name : {"gpu5", "gpu2"}) {
    CheckLine(memory, Line("words", "gpu", name, word_layout->rows_per_shard),
              word_bytes);
    // 15 stripes of 64 rows and one of 40: the first GPU has 8.
    CheckLine(memory, Line("ids", "gpu", name, 512), id_bytes);
    CheckLine(memory, "  - {device: " + name + ", bytes: $}",
              word_bytes + id_bytes);
  }
  CheckLine(memory, Line("words", "host", "host", 100'000),
            CpuTableMemoryBytes(words));
  CheckLine(memory, "  - {device: host, bytes: $}", CpuTableMemoryBytes(words));
}

TEST_CASE("Without a list, as many GPUs count as are asked for", "[check]") {
  const std::string memory = MemoryOf(Parse("cuda"), 3);
  CHECK(memory.find("{device: gpu2, ") != std::string::npos);
  CHECK(memory.find("gpu3") == std::string::npos);
  CHECK(memory.find("backend: cpu") == std::string::npos);
}

TEST_CASE("Both backends are shown where either may be chosen", "[check]") {
  const Config config = Parse("auto");
  CHECK(MemoryOf(config, 1) ==
        MemoryOf(Parse("[0]"), 1) + MemoryOf(Parse("cpu"), 1));
}

TEST_CASE("A table that its GPUs cannot number is refused", "[check]") {
  const std::string tables = R"(
tables:
  - {name: users, dim: 1, tiers: [{gpu: {rows: 4G}}]}
)";
  const auto refused = CheckReport(Parse("cuda", tables), 1);
  CHECK(refused.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(CheckReport(Parse("cuda", tables), 2).ok());
  CHECK(CheckReport(Parse("cpu", tables), 1).ok());
}

TEST_CASE("No tables take nothing", "[check]") {
  CHECK(MemoryOf(Parse("cpu", "\ntables: []"), 1) ==
        "---\nbackend: cpu\nmemory: []\ntotal:\n"
        "  - {device: host, bytes: 0}  # 0 B\n");
}

TEST_CASE("Tables that a start on GPUs refuses are warned of", "[check]") {
  const std::string tables = R"(
tables:
  - {name: t, dim: 1, tiers: [{gpu: {rows: 1}}, {host: {rows: 2}}]}
  - {name: u, dim: 1, tiers: [{gpu: {rows: 1}}]}
)";
  CHECK(CheckWarnings(Parse("cpu", tables)).empty());
  for (const auto& [devices, outcome] :
       {std::pair("cuda", "a server with these devices will not start"),
        std::pair("auto", "devices: auto will use the CPU backend")}) {
    CAPTURE(devices);
    const std::vector<std::string> warnings =
        CheckWarnings(Parse(devices, tables));
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("table \"t\": `tiers` has gpu above host") == 0);
    CHECK(warnings[0].find(outcome) != std::string::npos);
  }
}

TEST_CASE("Sources that are not there are warned of", "[check]") {
  const Config config = Parse("cpu", R"(
tables:
  - {name: t, dim: 1, tiers: [{host: {rows: 1}}],
     source: {rows: /dev/null, keys: /no/keys.npy}}
)");
  CHECK(CheckWarnings(config) ==
        std::vector<std::string>{"table \"t\": /no/keys.npy cannot be read: No "
                                 "such file or directory"});
}

}  // namespace
}  // namespace gatherd
