#include "client/bench/verify.h"

#include <catch2/catch.hpp>
#include <thread>

#include "absl/time/clock.h"
#include "tests/client/fake_server.h"

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;

constexpr int kInternal = 13;

VerifyResult Run(const FakeServer& server, const char* table) {
  ClientOptions client_options;
  client_options.connection.address = server.address();
  const auto client = Client::Create(client_options);
  REQUIRE(client.ok());
  VerifyOptions options;
  options.table.name = table;
  options.table.dim = server.GetTable(table).dim;
  options.table.key_space = server.GetTable(table).dense ? "dense" : "hashed";
  options.rows = 8;
  options.keys_per_call = 4;
  options.duration = absl::Milliseconds(500);
  const auto result = Verify(**client, options);
  REQUIRE(result.ok());
  return *result;
}

}  // namespace

TEST_CASE("A server that keeps the contract passes") {
  FakeServer server;
  const VerifyResult result = Run(server, "words");
  INFO(VerifyText(result));
  CHECK(result.ok());
  CHECK(result.num_rows_checked > 0);
  CHECK(result.num_updates > 0);
  CHECK(result.num_erases > 0);
  CHECK(result.errors.empty());
}

TEST_CASE("Rows that nobody wrote are found") {
  FakeServer server;
  server.SpoilRows();
  const VerifyResult result = Run(server, "words");
  CHECK_FALSE(result.ok());
  CHECK(result.num_torn > 0);
  CHECK_THAT(VerifyText(result), Contains("of no version"));
}

TEST_CASE("Rows of an earlier version are found") {
  FakeServer server;
  server.LoseUpdates(20);
  const VerifyResult result = Run(server, "words");
  CHECK_FALSE(result.ok());
  CHECK(result.num_stale > 0);
  CHECK_THAT(VerifyText(result), Contains("stale"));
}

TEST_CASE("A dense table's erased rows are the default row") {
  FakeServer server;
  const VerifyResult result = Run(server, "items");
  INFO(VerifyText(result));
  CHECK(result.ok());
  CHECK(result.num_erases > 0);
}

TEST_CASE("Calls that fail are counted, and no wrong rows") {
  FakeServer server;
  std::thread failure([&server] {
    absl::SleepFor(absl::Milliseconds(200));
    server.FailNext(10, kInternal, "broken");
  });
  const VerifyResult result = Run(server, "words");
  failure.join();
  INFO(VerifyText(result));
  CHECK(result.ok());
  CHECK(result.errors.at("INTERNAL") == 10);
}

}  // namespace gatherd::client
