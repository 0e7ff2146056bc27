// Every way a configuration can be wrong, with the place and the words of its
// refusal.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "server/config.h"

namespace gatherd {
namespace {

struct Refusal {
  std::string text;
  std::string message;  // behind the file's name
};

void Check(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    CAPTURE(refusal.text);
    const absl::StatusOr<Config> config = ParseConfig(refusal.text, "c.yaml");
    CHECK(config.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(config.status().message() == "c.yaml:" + refusal.message);
  }
}

// `lines` as a table, in lines 2 and on, with what it needs besides them.
std::string Table(const std::string& lines) {
  return "tables:\n- " + lines +
         "\n  name: t\n  dim: 4\n  tiers: [{host: {rows: 10}}]\n";
}

void CheckTables(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    Check({{Table(refusal.text), refusal.message}});
  }
}

TEST_CASE("Refused: the document as a whole", "[config]") {
  Check({
      {"",
       "1:1: the file is empty; allowed: a map with at least `tables`, which "
       "may be []"},
      {"# comment\n",
       "1:1: the file is empty; allowed: a map with at least `tables`, which "
       "may be []"},
      {"server: {}\n",
       "1:1: the configuration lacks the key `tables`; allowed: a list of "
       "tables; [] if there are none"},
      {"- tables",
       "1:1: the configuration is a list; allowed: a map with the keys server, "
       "log, devices, tables"},
      {"tables",
       "1:1: the configuration is `tables`; allowed: a map with the keys "
       "server, log, devices, tables"},
      {"tables: []\nserve: {}",
       "2:1: unknown key `serve` of the configuration, perhaps `server`; "
       "allowed: server, log, devices, tables"},
      {"tables: []\nmetrics: {}",
       "2:1: unknown key `metrics` of the configuration; allowed: server, log, "
       "devices, tables"},
      {"tables: []\ntables: []",
       "2:1: `tables` is given twice, first in line 1; allowed: once"},
      {"x: &a {y: 1}\ntables: []\nserver: {<<: *a}",
       "1:4: anchors and aliases are not allowed; write the value out"},
      {"tables: [\n", "2:1: not valid YAML: end of sequence flow not found"},
  });
}

TEST_CASE("Refused: server", "[config]") {
  Check({
      {"server:\ntables: []",
       "1:1: server is empty; allowed: a map with the keys address, "
       "metrics_address, max_message_bytes, max_keys_per_request, "
       "max_inflight_bytes, default_deadline, reply_timeout, "
       "drain_delay, shutdown_timeout, "
       "health_address, snapshot_directory, reflection, tls, auth"},
      {"server:\n  adress: a:1\n",
       "2:3: unknown key `adress` of server, perhaps `address`; allowed: "
       "address, metrics_address, max_message_bytes, max_keys_per_request, "
       "max_inflight_bytes, default_deadline, reply_timeout, "
       "drain_delay, shutdown_timeout, "
       "health_address, snapshot_directory, reflection, tls, auth"},
      {"server:\n  drain_delay: 1s\n  drain_delay: 2s\n",
       "3:3: `drain_delay` is given twice, first in line 2; allowed: once"},
      {"server: {metrics_address: 'unix:/x'}",
       "1:27: `metrics_address` is `unix:/x`; allowed: host:port or "
       "[ipv6]:port, the port from 0 to 65535"},
      {"server: {snapshot_directory: /tmp}",
       "1:10: `snapshot_directory` is not supported by this version yet; leave "
       "it out"},
      {"server: {health_address: }",
       "1:26: `health_address` is empty; allowed: \"\", host:port, [ipv6]:port "
       "or unix:path, the port from 0 to 65535"},
      {"server: {health_address: localhost}",
       "1:26: `health_address` is `localhost`; allowed: \"\", host:port, "
       "[ipv6]:port or unix:path, the port from 0 to 65535"},
      {"server: {reflection: no}",
       "1:22: `reflection` is `no`; allowed: true or false"},
  });
}

TEST_CASE("Refused: addresses", "[config]") {
  for (const std::string address :
       {"7400", "localhost", "localhost:", ":7400", "a:65536", "a:-1", "a:1x",
        "a b:1", "::1:7400", "[::1]", "[::g]:1", "[]:1", "1.2.3:1",
        "256.1.1.1:1", "http://a:1", "unix:", "unix", "''"}) {
    const std::string text = "server:\n  address: " +
                             (address == "''" ? address : "'" + address + "'");
    const std::string shown = address == "''" ? "" : address;
    Check({{text,
            ("2:12: `address` is `" + shown +
             "`; allowed: host:port, [ipv6]:port or unix:path, the port from 0 "
             "to 65535")}});
  }
  const std::string long_path = "unix:/" + std::string(107, 'a');
  CHECK_FALSE(
      ParseConfig("server: {address: '" + long_path + "'}\ntables: []", "c")
          .ok());
  // Short enough until its folder is put before it.
  const std::string relative = "unix:" + std::string(107, 'a');
  CHECK(ParseConfig("server: {address: '" + relative + "'}\ntables: []", "/c")
            .status()
            .message() == "/c:1:19: `address` is `unix:/" +
                              std::string(107, 'a') +
                              "`, too long for a socket; allowed: a path of up "
                              "to 107 bytes");
  for (const char* value : {"[a:1]", "{a: 1}", "~", ""}) {
    CHECK(std::string(
              ParseConfig("server:\n  address: " + std::string(value), "c")
                  .status()
                  .message())
              .rfind("c:2:", 0) == 0);
  }
}

TEST_CASE("Refused: sizes, counts and durations", "[config]") {
  const std::string bytes =
      "; allowed: 1 to 2147483647 bytes, with KiB, MiB or GiB as in 64MiB";
  for (const std::string value :
       {"0", "2GiB", "2147483648", "64MB", "64 mb", "-1", "1.5MiB", "x", "1M",
        "99999999999999999999", "18446744073709551616TiB", "MiB", "0x10"}) {
    Check({{("server: {max_message_bytes: " + value + "}"),
            ("1:29: `max_message_bytes` is `" + value + "`" + bytes)}});
  }
  Check({
      {"server: {max_message_bytes: [1]}",
       ("1:29: `max_message_bytes` is a list" + bytes)},
      {"server: {max_message_bytes: }",
       ("1:29: `max_message_bytes` is empty" + bytes)},
      {"server: {max_inflight_bytes: 0}",
       "1:30: `max_inflight_bytes` is `0`; allowed: at least 1 byte, with KiB, "
       "MiB, GiB or TiB as in 1GiB"},
  });
  for (const std::string value : {"0", "5G", "4294967296", "1KiB", "many"}) {
    Check({{("server: {max_keys_per_request: " + value + "}"),
            ("1:32: `max_keys_per_request` is `" + value +
             "`; allowed: 1 to 4294967295, with K, M or G as in 1M")}});
  }
  for (const std::string value :
       {"0", "0s", "1", "1h", "-1s", "1441m", "99999999999999999999s", "s"}) {
    Check({{("server: {default_deadline: " + value + "}"),
            ("1:28: `default_deadline` is `" + value +
             "`; allowed: 1us to 1440m, with us, ms, s or m as in 500ms")}});
  }
  Check({
      {"server: {reply_timeout: 0s}",
       "1:25: `reply_timeout` is `0s`; allowed: 1ms to 1440m, with us, "
       "ms, s or m as in 1m"},
      {"server: {drain_delay: -1s}",
       "1:23: `drain_delay` is `-1s`; allowed: 0s to 1440m, with us, ms, s or "
       "m as in 5s"},
      {"server: {shutdown_timeout: never}",
       "1:28: `shutdown_timeout` is `never`; allowed: 0s to 1440m, with us, "
       "ms, s or m as in 10s"},
  });
}

TEST_CASE("Refused: log and devices", "[config]") {
  const std::string devices =
      "; allowed: auto, cuda, cpu, or a list of GPU numbers, 0 to 1023, as in "
      "[0, 1]";
  Check({
      {"log: info",
       "1:6: log is `info`; allowed: a map with the keys level, format"},
      {"log: {level: verbose}",
       "1:14: `level` is `verbose`; allowed: debug, info, warning or error"},
      {"log: {level: INFO}",
       "1:14: `level` is `INFO`; allowed: debug, info, warning or error"},
      {"log: {format: xml}", "1:15: `format` is `xml`; allowed: text or json"},
      {"log: {levl: info}",
       "1:7: unknown key `levl` of log, perhaps `level`; allowed: level, "
       "format"},
      {"devices: gpu", ("1:10: `devices` is `gpu`" + devices)},
      {"devices: 0", ("1:10: `devices` is `0`" + devices)},
      {"devices: []", ("1:10: `devices` is a list" + devices)},
      {"devices: [-1]", ("1:11: `devices` is `-1`" + devices)},
      {"devices: [0, 1024]", ("1:14: `devices` is `1024`" + devices)},
      {"devices: [0, x]", ("1:14: `devices` is `x`" + devices)},
      {"devices: [[0]]", ("1:11: `devices` is a list" + devices)},
      {"devices: [2, 0, 2]",
       "1:17: `devices` lists `2` twice; allowed: each GPU once"},
      {"devices: {}", ("1:10: `devices` is a map" + devices)},
      {"devices: ", ("1:10: `devices` is empty" + devices)},
  });
}

TEST_CASE("Refused: the list of tables", "[config]") {
  Check({
      {"tables:\n",
       "1:1: `tables` is empty; allowed: a list of tables; [] if there are "
       "none"},
      {"tables: {name: t}",
       "1:9: `tables` is a map; allowed: a list of tables; [] if there are "
       "none"},
      {"tables: none",
       "1:9: `tables` is `none`; allowed: a list of tables; [] if there are "
       "none"},
      {"tables: [words]",
       "1:10: the table is `words`; allowed: a map with the keys name, dim, "
       "data_type, key_space, tiers, eviction, default_row, "
       "missing_key_policy, read_only, source"},
      {"tables:\n  - name: a\n    dim: 1\n    tiers: [{gpu: {rows: 1}}]\n"
       "  - dim: 1\n    tiers: [{gpu: {rows: 1}}]\n    name: a\n",
       "7:11: table \"a\" is configured twice; allowed: one table of a name"},
      {"tables:\n  - dim: 1\n    tiers: [{gpu: {rows: 1}}]\n",
       "2:5: the table lacks the key `name`; allowed: 1 to 128 of the "
       "characters A-Z a-z 0-9 _ . -"},
      {"tables:\n  - name: a\n    tiers: [{gpu: {rows: 1}}]\n",
       "2:5: the table lacks the key `dim`; allowed: 1 to 8192"},
      {"tables:\n  - name: a\n    dim: 1\n",
       "2:5: the table lacks the key `tiers`; allowed: a list of tiers, "
       "fastest "
       "first, as in [{gpu: {rows: 10M}}, {host: {rows: 100M}}]"},
  });
}

TEST_CASE("Refused: names and widths of tables", "[config]") {
  for (const std::string& name : {std::string("a b"), std::string("a/b"),
                                  std::string("é"), std::string("'")}) {
    const std::string text = "tables:\n  - name: \"" + name + "\"\n";
    Check(
        {{text, ("2:11: `name` is `" + name +
                 "`; allowed: 1 to 128 of the characters A-Z a-z 0-9 _ . -")}});
  }
  const auto parse = [](size_t length) {
    return ParseConfig("tables: [{dim: 1, tiers: [{gpu: {rows: 1}}], name: " +
                           std::string(length, 'n') + "}]",
                       "c");
  };
  CHECK(parse(128).ok());
  CHECK_FALSE(parse(129).ok());
  CHECK_FALSE(ParseConfig("tables: [{name: ''}]", "c").ok());
  for (const std::string dim :
       {"0", "8193", "-1", "1.0", "1e2", "0x10", "+5", "ten", "\"100\"", "1K",
        "[1]", "18446744073709551617"}) {
    const std::string text = "tables:\n  - dim: " + dim + "\n";
    const std::string shown = dim == "\"100\"" ? "`100`"
                              : dim == "[1]"   ? "a list"
                                               : "`" + dim + "`";
    Check({{text, ("2:10: `dim` is " + shown + "; allowed: 1 to 8192")}});
  }
}

TEST_CASE("Refused: settings of a table", "[config]") {
  CheckTables({
      {"data_type: float64",
       "2:14: `data_type` is `float64`; allowed: float32, float16, bfloat16 or "
       "int8"},
      {"key_space: sparse",
       "2:14: `key_space` is `sparse`; allowed: hashed or dense"},
      {"eviction: fifo",
       "2:13: `eviction` is `fifo`; allowed: none, lru or lfu"},
      {"eviction: lru\n  key_space: dense",
       "2:13: `eviction` is `lru` but `key_space` is dense, where every row "
       "stays; allowed: none"},
      {"missing_key_policy: fail",
       "2:23: `missing_key_policy` is `fail`; allowed: default_row or error"},
      {"read_only: yes", "2:14: `read_only` is `yes`; allowed: true or false"},
      {"read_only: 'true'",
       "2:14: `read_only` is `true`; allowed: true or false"},
      {"evict: lru",
       "2:3: unknown key `evict` of the table; allowed: name, dim, data_type, "
       "key_space, tiers, eviction, default_row, missing_key_policy, "
       "read_only, source"},
      {"rows: 5",
       "2:3: unknown key `rows` of the table; allowed: name, dim, data_type, "
       "key_space, tiers, eviction, default_row, missing_key_policy, "
       "read_only, source"},
  });
}

TEST_CASE("Refused: default rows", "[config]") {
  CheckTables({
      {"default_row: ones",
       "2:16: `default_row` is `ones`; allowed: zeros, or a number as in "
       "{constant: 0.1}"},
      {"default_row: [1]",
       "2:16: `default_row` is a list; allowed: zeros, or a number as in "
       "{constant: 0.1}"},
      {"default_row: {}",
       "2:16: default_row lacks the key `constant`; allowed: a number that the "
       "table's data_type can hold"},
      {"default_row: {value: 1}",
       "2:17: unknown key `value` of default_row; allowed: constant"},
      {"default_row: {constant: .nan}",
       "2:27: `constant` is `.nan`; allowed: a number that the table's "
       "data_type can hold"},
      {"default_row: {constant: inf}",
       "2:27: `constant` is `inf`; allowed: a number that the table's "
       "data_type can hold"},
      {"default_row: {constant: 1e39}",
       "2:27: `constant` is `1e39`; allowed: a number that the table's "
       "data_type can hold"},
      {"default_row: {constant: '1'}",
       "2:27: `constant` is `1`; allowed: a number that the table's data_type "
       "can hold"},
      {"default_row: {constant: -65505}\n  data_type: float16",
       "2:27: `constant` is `-65505`; allowed for float16: -65504 to 65504"},
      {"default_row: {constant: 3.4e38}\n  data_type: bfloat16",
       "2:27: `constant` is `3.4e38`; allowed for bfloat16: -3.38953e+38 to "
       "3.38953e+38"},
  });
  CHECK(ParseConfig(Table("default_row: {constant: 65504}\n"
                          "  data_type: float16"),
                    "c")
            .ok());
  CHECK(ParseConfig(Table("default_row: {constant: 3.4e38}\n"
                          "  data_type: int8"),
                    "c")
            .ok());
}

TEST_CASE("Refused: tiers", "[config]") {
  const std::string order =
      "; allowed: each kind once, in the order gpu, host, and below them one "
      "of rocksdb and redis";
  const std::string form =
      "; allowed: one kind with its options, as in gpu: {rows: 10M}";
  const std::string list =
      "; allowed: a list of tiers, fastest first, as in [{gpu: {rows: 10M}}, "
      "{host: {rows: 100M}}]";
  const std::string rows =
      "; allowed: 1 to 4294967294, with K, M or G as in "
      "10M";
  const std::vector<Refusal> refusals = {
      {"[]", ("2:12: `tiers` is a list" + list)},
      {"{gpu: {rows: 1}}", ("2:12: `tiers` is a map" + list)},
      {"gpu", ("2:12: `tiers` is `gpu`" + list)},
      {"[gpu]", ("2:13: a tier is `gpu`" + form)},
      {"[{}]", ("2:13: a tier is a map of other than one key" + form)},
      {"[{gpu: {rows: 1}, host: {rows: 1}}]",
       ("2:13: a tier is a map of other than one key" + form)},
      {"[{gpus: {rows: 1}}]",
       "2:14: unknown key `gpus` of a tier, perhaps `gpu`; allowed: gpu, host, "
       "rocksdb, redis"},
      {"[{gpu: }]",
       "2:19: tier `gpu` is empty; allowed: a map with the keys rows, spread"},
      {"[{gpu: 10M}]",
       "2:19: tier `gpu` is `10M`; allowed: a map with the keys rows, spread"},
      {"[{gpu: {}}]", ("2:19: tier `gpu` lacks the key `rows`" + rows)},
      {"[{host: {rows: 0}}]", ("2:27: `rows` is `0`" + rows)},
      {"[{host: {rows: 4294967295}}]", ("2:27: `rows` is `4294967295`" + rows)},
      {"[{host: {rows: 10MiB}}]", ("2:27: `rows` is `10MiB`" + rows)},
      {"[{host: {rows: -5}}]", ("2:27: `rows` is `-5`" + rows)},
      {"[{host: {rows: 1, spread: sharded}}]",
       "2:30: unknown key `spread` of tier `host`; allowed: rows"},
      {"[{gpu: {rows: 1, spread: wide}}]",
       "2:37: `spread` is `wide`; allowed: sharded or replicated"},
      {"[{gpu: {rows: 1, spread: replicated}}]",
       "2:37: `spread` of the last tier, which holds every row once, is "
       "`replicated`; allowed: sharded, or a host tier below this one"},
      {"[{host: {rows: 1}}, {gpu: {rows: 1}}]",
       ("2:33: tier `gpu` stands below `host`" + order)},
      {"[{gpu: {rows: 1}}, {gpu: {rows: 1}}]",
       ("2:32: tier `gpu` stands below `gpu`" + order)},
      {"[{rocksdb: {path: /x}}]",
       "2:14: `rocksdb` is not supported by this version yet; leave it out"},
      {"[{gpu: {rows: 1}}, {redis: {}}]",
       "2:32: `redis` is not supported by this version yet; leave it out"},
  };
  for (const Refusal& refusal : refusals) {
    Check({{"tables:\n  - tiers: " + refusal.text + "\n", refusal.message}});
  }
}

TEST_CASE("Refused: sources", "[config]") {
  CheckTables({
      {"source: words.npy",
       "2:11: source is `words.npy`; allowed: a map with the keys rows, keys"},
      {"source: {keys: k.npy}",
       "2:11: source lacks the key `rows`; allowed: a path to a .npy file"},
      {"source: {rows: r.npy}",
       "2:11: source lacks the key `keys`, which a hashed table needs; "
       "allowed: "
       "a path to a .npy file of int64 or int32"},
      {"source: {rows: r.npy, keys: k.npy}\n  key_space: dense",
       "2:31: `keys` of a dense table, whose keys are row numbers; allowed: "
       "`rows` alone"},
      {"source: {rows: ''}",
       "2:18: `rows` is ``; allowed: a path to a .npy file"},
      {"source: {rows: \"a\\0b\", keys: k}",
       "2:18: `rows` is `a b`; allowed: a path to a .npy file"},
      {"source: {rows: [a]}",
       "2:18: `rows` is a list; allowed: a path to a .npy file"},
      {"source: {row: r.npy}",
       "2:12: unknown key `row` of source, perhaps `rows`; allowed: rows, "
       "keys"},
  });
}

}  // namespace
}  // namespace gatherd
