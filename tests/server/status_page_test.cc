#include <httplib.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/version.h"
#include "server/status_page/status_text.h"
#include "tests/server/forwarding_table.h"
#include "tests/server/specs.h"
#include "tests/server/test_server.h"

namespace gatherd {
namespace {

using Catch::Contains;
using nlohmann::json;

constexpr char kNastyName[] = "<b>\"GPU\" & 'co'</b>";

// A table as GPUs have them: it says where its rows are.
class SpreadTable final : public ForwardingTable {
 public:
  using ForwardingTable::ForwardingTable;

  TableStats Stats() const override {
    TableStats stats = ForwardingTable::Stats();
    stats.tiers.at(0).rows_per_device = {7000, 3500};
    return stats;
  }
};

// The CPU backend, that says it had two GPUs.
Backend TwoDevices() {
  Backend backend = CpuBackend();
  backend.name = "cuda";
  backend.devices = {kNastyName, "\xff no UTF-8"};
  backend.links = {{2, 3, true, true, ""},
                   {3, 2, true, false, "device 3 wrote <i>1</i> words"}};
  backend.device_stats = [] {
    return std::vector<DeviceStats>{{2, 3 << 20, 5 << 20, 11, 13},
                                    {3, 1 << 20, 7 << 20, 17, 19}};
  };
  backend.make_table = CpuTablesIn<SpreadTable>();
  return backend;
}

Config OneTable() { return TestConfig({HashedSpec("words", 2, 100)}); }

json StatusOf(TestServer& server) {
  return json::parse(server.HttpBody("/status.json"));
}

httplib::Headers HeadersOf(TestServer& server, const std::string& path) {
  httplib::Client client("http://" + server.application().metrics_address());
  const httplib::Result result = client.Get(path.c_str());
  REQUIRE(result);
  return result->headers;
}

std::string HeaderOf(TestServer& server, const std::string& path,
                     const std::string& name) {
  const httplib::Headers headers = HeadersOf(server, path);
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

TEST_CASE("status.json says what the server is") {
  TestServer server(OneTable());
  const json status = StatusOf(server);
  CHECK(status.at("version") == kGatherdVersion);
  CHECK(status.at("backend") == "cpu");
  CHECK(status.at("phase") == "serving");
  CHECK(status.at("address") == server.application().address());
  CHECK(status.at("uptime_seconds") > 0);
  CHECK(status.at("start_time_us") > 0);
  for (const char* count :
       {"inflight_requests", "inflight_bytes", "queue_requests"}) {
    CHECK(status.at(count) == 0);
  }
  CHECK(status.at("devices").empty());
  CHECK(HeaderOf(server, "/status.json", "Content-Type") == "application/json");
  CHECK(HeaderOf(server, "/status.json", "Cache-Control") == "no-store");
}

TEST_CASE("status.json counts keys, rows and requests") {
  TestServer server(OneTable());
  REQUIRE(server.Set("words", 1, {1, 2}).ok());
  REQUIRE(server.Set("words", 1, {1, 2}).ok());
  grpc::Status lookup;
  server.Lookup("words", 1, &lookup);
  server.Lookup("words", 5, &lookup);
  REQUIRE(lookup.ok());
  server.Lookup("absent", 1, &lookup);
  REQUIRE(server.MetricBecomes(
      "grpc_server_handling_seconds_count{grpc_type=\"unary\",grpc_service="
      "\"gatherd.v1.EmbeddingService\",grpc_method=\"Lookup\"}",
      3));
  REQUIRE(server.MetricBecomes(
      "grpc_server_handled_total{grpc_type=\"unary\",grpc_service="
      "\"gatherd.v1.EmbeddingService\",grpc_method=\"Lookup\",grpc_code="
      "\"NotFound\"}",
      1));

  const json status = StatusOf(server);
  const json& table = status.at("tables").at(0);
  for (const auto& [field, value] :
       std::map<std::string, json>{{"name", "words"},
                                   {"state", "ready"},
                                   {"key_space", "hashed"},
                                   {"data_type", "float32"},
                                   {"dim", 2},
                                   {"rows", 1},
                                   {"revision", 2},
                                   {"loaded_rows", 0},
                                   {"found", 1},
                                   {"missing", 1},
                                   {"inserted", 1},
                                   {"updated", 1},
                                   {"skipped", 0},
                                   {"erased", 0}}) {
    INFO(field);
    CHECK(table.at(field) == value);
  }
  CHECK(table.at("memory_bytes") > 0);
  const json& tier = status.at("tiers").at(0);
  CHECK(tier.at("table") == "words");
  CHECK(tier.at("tier") == "host");
  CHECK(tier.at("rows") == 1);
  CHECK(tier.at("capacity_rows") == 100);
  CHECK(tier.at("hits") == 1);
  CHECK(tier.at("misses") == 1);
  CHECK(tier.at("hit_rate") == 0.5);
  CHECK(tier.at("evictions") == 0);
  CHECK(tier.at("rows_per_device").empty());

  const json& method = status.at("methods").at(0);
  CHECK(method.at("name") == "Lookup");
  CHECK(method.at("started") == 3);
  CHECK(method.at("ok") == 2);
  CHECK(method.at("failed") == 1);
  CHECK(method.at("requests") == 2);
  CHECK(method.at("keys") == 2);
  CHECK(method.at("p50_seconds") > 0);
  CHECK(method.at("p99_seconds") >= method.at("p50_seconds"));
  const json& seconds = status.at("lookup_seconds");
  uint64_t count = 0;
  for (const json& bucket : seconds.at("counts")) count += bucket.get<int>();
  CHECK(count == 3);
  CHECK(seconds.at("counts").size() == seconds.at("bounds").size() + 1);
  for (const json& stage : status.at("stages")) {
    if (stage.at("name") == "decode") CHECK(stage.at("mean_seconds") > 0);
  }
  CHECK(status.at("stages").size() == 4);
  CHECK(status.at("refusals").size() == 5);
}

TEST_CASE("status.json lists what was refused, without keys") {
  TestServer server(OneTable());
  CHECK(StatusOf(server).at("recent_refusals").empty());
  const std::string before = server.HttpBody("/");
  CHECK_THAT(before, Contains("data-unless=\"/recent_refusals/0\">None"));
  CHECK_THAT(before, Contains("<tr role=\"row\" data-if=\"/recent_refusals/0\" "
                              "hidden>"));

  grpc::Status status;
  server.Lookup(kNastyName, 1, &status);
  v1::LookupRequest request;
  v1::TableLookup* part = request.add_lookups();
  part->set_table("words");
  part->add_keys(4711);
  part->set_missing_key_policy(v1::MISSING_KEY_POLICY_ERROR);
  grpc::ClientContext call;
  v1::LookupResponse reply;
  status = server.stub().Lookup(&call, request, &reply);
  REQUIRE(status.error_code() == grpc::StatusCode::NOT_FOUND);
  REQUIRE_THAT(status.error_message(), Contains("key 4711 "));
  server.Set("absent", 1, {1, 2});

  const json document = StatusOf(server);
  const json& list = document.at("recent_refusals");
  REQUIRE(list.size() >= 2);  // of three in one second, two
  for (const json& refusal : list) {
    CHECK(refusal.at("code") == "NOT_FOUND");
    CHECK(refusal.at("time_us") > document.at("start_time_us"));
  }
  CHECK(list.size() + document.at("recent_refusals_left_out").get<size_t>() ==
        3);
  const json& nasty = list.at(list.size() - 1);
  CHECK(nasty.at("method") == "Lookup");
  CHECK_THAT(
      nasty.at("text").get<std::string>(),
      Contains(std::string("table \"") + kNastyName + "\" is not served here"));
  CHECK_THAT(list.at(list.size() - 2).at("text").get<std::string>(),
             Contains("key … is missing"));

  const std::string page = server.HttpBody("/");
  CHECK_THAT(page, !Contains("<b>\"") && !Contains("4711"));
  CHECK_THAT(page, Contains("&lt;b&gt;&quot;GPU&quot;"));
  CHECK_THAT(page, Contains("data-if=\"/recent_refusals/0\">") &&
                       Contains("data-unless=\"/recent_refusals/0\" hidden>"));
}

TEST_CASE("status.json has null for what is not known") {
  TestServer server(OneTable(), &CreateCpuTable, TestServer::Startup::kNone);
  const json status = StatusOf(server);
  CHECK(status.at("phase") == "loading");
  CHECK(status.at("tables").at(0).at("state") == "loading");
  CHECK(status.at("tiers").at(0).at("hit_rate").is_null());
  CHECK(status.at("methods").at(0).at("p50_seconds").is_null());
  CHECK(status.at("stages").at(0).at("mean_seconds").is_null());
  CHECK(server.HttpStatus("/") == 200);
}

TEST_CASE("the status page shows devices and shards, with text escaped") {
  TestServer server(OneTable(), TwoDevices());
  const json status = StatusOf(server);
  CHECK(status.at("backend") == "cuda");
  const json& device = status.at("devices").at(0);
  CHECK(device.at("device") == 2);
  CHECK(device.at("description") == kNastyName);
  CHECK(device.at("used_bytes") == 3 << 20);
  CHECK(device.at("free_bytes") == 5 << 20);
  CHECK(device.at("rows_read_local") == 11);
  CHECK(device.at("rows_read_remote") == 13);
  CHECK(status.at("devices").at(1).at("description") == "\uFFFD no UTF-8");
  CHECK(status.at("tiers").at(0).at("rows_per_device") ==
        json::parse(
            R"([{"device": 2, "rows": 7000}, {"device": 3, "rows": 3500}])"));

  const std::string page = server.HttpBody("/");
  CHECK_THAT(page, !Contains("<b>"));
  CHECK_THAT(page, Contains("&lt;b&gt;&quot;GPU&quot; &amp; &#39;co&#39;"));
  CHECK_THAT(page, Contains("<meter max=\"7000\" value=\"3500\" "
                            "aria-label=\"GPU 3: 3,500\">"));
}

TEST_CASE("the status page shows how GPUs reach each other's memory") {
  TestServer server(OneTable(), TwoDevices());
  CHECK(StatusOf(server).at("links") == json::parse(R"([
      {"from": 2, "to": 3, "peer_access": true, "native_atomics": true,
       "verified": true, "problem": null},
      {"from": 3, "to": 2, "peer_access": true, "native_atomics": false,
       "verified": false, "problem": "device 3 wrote <i>1</i> words"}])"));
  const std::string page = server.HttpBody("/");
  CHECK_THAT(page, Contains("data-label=\"to GPU 3\" data-as=\"prose\">"
                            "verified, native atomics</td>"));
  CHECK_THAT(page, Contains("data-label=\"to GPU 2\" data-as=\"prose\">"
                            "device 3 wrote &lt;i&gt;1&lt;/i&gt; words</td>"));
  CHECK_THAT(page, !Contains("<i>"));
  CHECK_THAT(page, Contains("data-label=\"to GPU 2\" data-as=\"prose\">–<"));
}

TEST_CASE("the status page of one GPU or none shows no links") {
  TestServer server(OneTable());
  CHECK(StatusOf(server).at("links").empty());
  CHECK_THAT(server.HttpBody("/"), !Contains("id=\"links\""));
}

TEST_CASE("the status page says everything without its script") {
  TestServer server(OneTable());
  REQUIRE(server.Set("words", 1, {1, 2}).ok());
  const std::string page = server.HttpBody("/");
  for (const char* part :
       {"words", "LookupStream", "serving", kGatherdVersion, "float32",
        "overload", "decode", "<noscript>", "<html lang=\"en\">", "<caption>",
        "width=device-width", "role=\"status\""}) {
    CHECK_THAT(page, Contains(part));
  }
  CHECK_THAT(page, Contains(server.application().address()));
  CHECK_THAT(page, Contains("data-at=\"/tables/0/rows\" data-as=\"count\">1<"));
  CHECK_THAT(page, !Contains("{{"));
  CHECK(server.HttpStatus("/nothing") == 404);
}

// Addresses of namespaces are names: nobody fetches them.
TEST_CASE("the status page needs nothing from elsewhere") {
  TestServer server(OneTable());
  std::string page = server.HttpBody("/");
  const std::string svg = "'http://www.w3.org/2000/svg'";
  const size_t place = page.find(svg);
  REQUIRE(place != std::string::npos);
  page.erase(place, svg.size());
  for (const char* forbidden : {"http:", "https:", "src=", "url(", "@import",
                                " style=", "innerHTML", " onclick="}) {
    INFO(forbidden);
    CHECK_THAT(page, !Contains(forbidden));
  }
  const std::string policy = HeaderOf(server, "/", "Content-Security-Policy");
  CHECK_THAT(policy, Contains("default-src 'none'") &&
                         Contains("script-src 'sha256-") &&
                         Contains("style-src 'sha256-") &&
                         Contains("connect-src 'self'") &&
                         Contains("frame-ancestors 'none'"));
  CHECK_THAT(policy, !Contains("unsafe") && !Contains("*"));
  CHECK(HeaderOf(server, "/", "X-Content-Type-Options") == "nosniff");
}

TEST_CASE("numbers of the status page read well") {
  CHECK(CountText(0) == "0");
  CHECK(CountText(999) == "999");
  CHECK(CountText(1000) == "1,000");
  CHECK(CountText(1234567) == "1,234,567");
  CHECK(BytesText(1023) == "1023 B");
  CHECK(BytesText(1536) == "1.5 KiB");
  CHECK(BytesText(uint64_t{3} << 30) == "3.0 GiB");
  CHECK(PercentText(0.9876) == "98.8 %");
  CHECK(DurationText(12.34e-6) == "12.3 µs");
  CHECK(DurationText(4.561e-3) == "4.56 ms");
  CHECK(DurationText(1.2) == "1.20 s");
  CHECK(UptimeText(59) == "59 s");
  CHECK(UptimeText(184) == "3 min 4 s");
  CHECK(UptimeText(2 * 3600 + 180) == "2 h 3 min");
  CHECK(UptimeText(53 * 3600) == "2 d 5 h");
  CHECK(TimeText(1796034934999999) == "2026-11-30 10:35:34 UTC");
  CHECK(HtmlText("<a href=\"'&") == "&lt;a href=&quot;&#39;&amp;");
}

}  // namespace
}  // namespace gatherd
