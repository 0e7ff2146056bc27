#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "testing/skip.h"
#include "tests/server/specs.h"
#include "tests/server/test_server.h"

namespace gatherd {
namespace {

using Catch::Contains;

Config TwoTiers() {
  CatalogTableSpec spec = HashedSpec("words", 2, 100);
  spec.table.tiers.insert(spec.table.tiers.begin(),
                          {TierKind::kGpu, 10, Spread::kSharded});
  return TestConfig({spec});
}

TEST_CASE("the stages of lookups explain their latency") {
  TestServer server(TestConfig({HashedSpec("words", 16, 100)}));
  v1::LookupRequest request;
  v1::TableLookup* const part = request.add_lookups();
  part->set_table("words");
  for (int i = 0; i < 50'000; ++i) part->add_keys(i % 100);
  for (int i = 0; i < 20; ++i) {
    REQUIRE(server
                .SendBytes("/gatherd.v1.EmbeddingService/Lookup",
                           request.SerializeAsString())
                .ok());
  }
  double stages = 0;
  for (const char* stage : {"decode", "queue", "device", "encode"}) {
    const std::string label = std::string("{stage=\"") + stage + "\"}";
    CHECK(server.Metric("gatherd_stage_duration_seconds_count" + label) == 20);
    stages += server.Metric("gatherd_stage_duration_seconds_sum" + label);
  }
  const double whole = server.Metric(
      "grpc_server_handling_seconds_sum{grpc_type=\"unary\",grpc_service="
      "\"gatherd.v1.EmbeddingService\",grpc_method=\"Lookup\"}");
  INFO(stages << " of " << whole << " s");
  CHECK(stages <= whole);
  CHECK(stages >= 0.9 * whole);
}

TEST_CASE("every documented series is there from the start, at 0") {
  TestServer server(TwoTiers());
  const std::string lookup =
      "grpc_type=\"unary\",grpc_service=\"gatherd.v1.EmbeddingService\","
      "grpc_method=\"Lookup\"";
  const std::string lookups =
      "grpc_type=\"bidi_stream\",grpc_service=\"gatherd.v1.EmbeddingService\","
      "grpc_method=\"LookupStream\"";
  for (
      const std::string& series : {
          "grpc_server_started_total{" + lookup + "}",
          "grpc_server_handled_total{" + lookup + ",grpc_code=\"OK\"}",
          "grpc_server_handled_total{" + lookup + ",grpc_code=\"NotFound\"}",
          "grpc_server_handled_total{" + lookups +
              ",grpc_code=\"ResourceExhausted\"}",
          "grpc_server_handling_seconds_count{" + lookup + "}",
          "grpc_server_handling_seconds_sum{" + lookups + "}",
          std::string("gatherd_stage_duration_seconds_count{stage=\"decode\"}"),
          std::string("gatherd_stage_duration_seconds_count{stage=\"queue\"}"),
          std::string("gatherd_stage_duration_seconds_count{stage=\"device\"}"),
          std::string("gatherd_stage_duration_seconds_count{stage=\"encode\"}"),
          std::string("gatherd_request_keys_count{method=\"Lookup\"}"),
          std::string("gatherd_request_keys_count{method=\"UpdateStream\"}"),
          std::string(
              "gatherd_lookup_keys_total{table=\"words\",outcome=\"found\"}"),
          std::string(
              "gatherd_lookup_keys_total{table=\"words\",outcome=\"missing\"}"),
          std::string(
              "gatherd_update_keys_total{table=\"words\",outcome=\"updated\"}"),
          std::string("gatherd_update_keys_total{table=\"words\",outcome="
                      "\"inserted\"}"),
          std::string(
              "gatherd_update_keys_total{table=\"words\",outcome=\"skipped\"}"),
          std::string("gatherd_erase_keys_total{table=\"words\"}"),
          std::string("gatherd_table_rows{table=\"words\"}"),
          std::string("gatherd_table_revision{table=\"words\"}"),
          std::string("gatherd_tier_rows{table=\"words\",tier=\"gpu\"}"),
          std::string("gatherd_tier_rows{table=\"words\",tier=\"host\"}"),
          std::string("gatherd_tier_keys_total{table=\"words\",tier=\"gpu\","
                      "outcome=\"hit\"}"),
          std::string("gatherd_tier_keys_total{table=\"words\",tier=\"host\","
                      "outcome=\"miss\"}"),
          std::string(
              "gatherd_tier_evictions_total{table=\"words\",tier=\"gpu\"}"),
          std::string("gatherd_batch_requests_count"),
          std::string("gatherd_inflight_requests"),
          std::string("gatherd_inflight_bytes"),
          std::string("gatherd_queue_requests"),
          std::string("gatherd_rejected_total{reason=\"overload\"}"),
          std::string("gatherd_rejected_total{reason=\"too_large\"}"),
          std::string("gatherd_rejected_total{reason=\"deadline\"}"),
          std::string("gatherd_rejected_total{reason=\"draining\"}"),
          std::string("gatherd_rejected_total{reason=\"unauthorized\"}"),
      }) {
    INFO(series);
    CHECK(server.Metric(series) == 0);
  }
  CHECK(server.Metric("gatherd_tier_capacity_rows{table=\"words\",tier="
                      "\"gpu\"}") == 10);
  CHECK(server.Metric(
            "gatherd_build_info{version=\"0.1.0\",backend=\"cpu\"}") == 1);
  for (const char* name :
       {"process_cpu_seconds_total", "process_resident_memory_bytes",
        "process_start_time_seconds", "process_open_fds"}) {
    INFO(name);
    CHECK(server.Metric(name) > 0);
  }
  const std::string page = server.HttpBody("/metrics");
  for (const char* name :
       {"gatherd_device_rows_read_total", "gatherd_device_memory_bytes",
        "gatherd_store_duration_seconds", "gatherd_store_errors_total"}) {
    CHECK_THAT(page, Contains(std::string("# TYPE ") + name));
  }
}

TEST_CASE("keys are counted by table, tier and outcome") {
  TestServer server(TwoTiers());
  REQUIRE(server.Set("words", 1, {1, 2}).ok());
  REQUIRE(server.Set("words", 1, {1, 2}).ok());
  v1::LookupRequest request;
  request.add_lookups()->set_table("words");
  for (int64_t key : {1, 1, 5}) request.mutable_lookups(0)->add_keys(key);
  v1::LookupResponse response;
  grpc::ClientContext context;
  REQUIRE(server.stub().Lookup(&context, request, &response).ok());

  const auto keys = [&](const char* what) {
    return server.Metric(std::string("gatherd_") + what);
  };
  CHECK(keys("update_keys_total{table=\"words\",outcome=\"inserted\"}") == 1);
  CHECK(keys("update_keys_total{table=\"words\",outcome=\"updated\"}") == 1);
  CHECK(keys("lookup_keys_total{table=\"words\",outcome=\"found\"}") == 2);
  CHECK(keys("lookup_keys_total{table=\"words\",outcome=\"missing\"}") == 1);
  const double hits =
      keys("tier_keys_total{table=\"words\",tier=\"gpu\",outcome=\"hit\"}") +
      keys("tier_keys_total{table=\"words\",tier=\"host\",outcome=\"hit\"}");
  CHECK(hits == 2);
  CHECK(
      keys("tier_keys_total{table=\"words\",tier=\"host\",outcome=\"miss\"}") ==
      1);
  CHECK(keys("request_keys_sum{method=\"Lookup\"}") == 3);
  CHECK(keys("table_revision{table=\"words\"}") == 2);
  CHECK(keys("stage_duration_seconds_count{stage=\"decode\"}") == 3);
}

TEST_CASE("promtool finds nothing wrong with the metrics") {
  if (std::system("promtool --version > /dev/null 2>&1") != 0) {
    GATHERD_SKIP("no promtool");
  }
  TestServer server(TwoTiers());
  const std::string path =
      std::string(std::getenv("TEST_TMPDIR")) + "/metrics.txt";
  std::ofstream(path) << server.HttpBody("/metrics");
  const std::string command = "promtool check metrics < " + path + " 2>&1";
  FILE* promtool = popen(command.c_str(), "r");
  std::string complaints;
  for (int c = fgetc(promtool); c != EOF; c = fgetc(promtool)) {
    complaints.push_back(static_cast<char>(c));
  }
  CHECK(WEXITSTATUS(pclose(promtool)) == 0);
  CHECK(complaints.empty());
}

}  // namespace
}  // namespace gatherd
