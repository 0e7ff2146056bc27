#include "client/client.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "absl/time/clock.h"
#include "tests/client/fake_server.h"

namespace gatherd::client {
namespace {

constexpr int kUnavailable = static_cast<int>(absl::StatusCode::kUnavailable);
constexpr int kInternal = static_cast<int>(absl::StatusCode::kInternal);

ClientOptions OptionsFor(const FakeServer& server) {
  ClientOptions options;
  options.connection.address = server.address();
  options.backoff.initial = absl::Milliseconds(1);
  return options;
}

std::unique_ptr<Client> Connect(const ClientOptions& options) {
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
  REQUIRE(client.ok());
  return *std::move(client);
}

constexpr int64_t kKeys[] = {7, -3};
constexpr float kValues[] = {1, 2, 3, 4, 5, 6, 7, 8};

TableUpdate Words(UpdateMode mode) {
  return {"words", kKeys, DataType::kFloat32, AsBytes(kValues), mode};
}

}  // namespace

TEST_CASE("Rows that were written are read back") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));

  const auto updated = client->Update({Words(UpdateMode::kSet)});
  REQUIRE(updated.ok());
  REQUIRE(updated->size() == 1);
  CHECK((*updated)[0].num_inserted == 2);
  CHECK((*updated)[0].revision == 1);

  const int64_t keys[] = {-3, 99, 7};
  const auto reply = client->Lookup({{"words", keys}});
  REQUIRE(reply.ok());
  const TableRows& rows = (*reply)[0];
  CHECK(rows.num_rows() == 3);
  CHECK(rows.dim() == 4);
  CHECK(rows.num_missing() == 1);
  CHECK_FALSE(rows.IsMissing(0));
  CHECK(rows.IsMissing(1));
  CHECK_FALSE(rows.IsMissing(2));
  CHECK(rows.Floats(0) == std::vector<float>{5, 6, 7, 8});
  CHECK(rows.Floats(1) == std::vector<float>{0, 0, 0, 0});
  CHECK(rows.Floats(2) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("Several tables come back in the order asked for") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  const int64_t one_key[] = {1};
  const auto reply =
      client->Lookup({{"items", one_key}, {"words", kKeys}, {"items", {}}});
  REQUIRE(reply.ok());
  REQUIRE(reply->size() == 3);
  CHECK((*reply)[0].dim() == 2);
  CHECK((*reply)[1].num_rows() == 2);
  CHECK((*reply)[2].num_rows() == 0);
}

TEST_CASE("A pooled lookup has a row a bag and a bit a key") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  REQUIRE(client->Update({Words(UpdateMode::kSet)}).ok());
  const int64_t keys[] = {7, -3, 5};
  const uint32_t offsets[] = {0};
  TableLookup lookup{"words", keys};
  lookup.pooling = Pooling::kSum;
  lookup.offsets = offsets;
  const auto reply = client->Lookup({lookup});
  REQUIRE(reply.ok());
  CHECK((*reply)[0].num_rows() == 1);
  CHECK((*reply)[0].Floats(0) == std::vector<float>{6, 8, 10, 12});
  CHECK((*reply)[0].IsMissing(2));
}

TEST_CASE("Erased rows are gone") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  REQUIRE(client->Update({Words(UpdateMode::kSet)}).ok());
  const auto erased = client->Erase({{"words", kKeys}});
  REQUIRE(erased.ok());
  CHECK((*erased)[0].num_erased == 2);
  CHECK(server.GetTable("words").rows.empty());
}

TEST_CASE("Tables and limits of the server are told") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  const auto tables = client->ListTables();
  REQUIRE(tables.ok());
  REQUIRE(tables->size() == 2);
  CHECK((*tables)[0].name == "items");
  CHECK((*tables)[0].key_space == "dense");
  CHECK((*tables)[0].tiers[0].memory_bytes == 123456);
  const auto info = client->GetServerInfo();
  REQUIRE(info.ok());
  CHECK(info->version == "9.9.9");
  CHECK(info->max_keys_per_request == 1000);
}

TEST_CASE("Errors of the server keep their code and text") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  const auto reply = client->Lookup({{"nowhere", kKeys}});
  CHECK(absl::IsNotFound(reply.status()));
  CHECK(reply.status().message() == "table \"nowhere\" does not exist");
}

TEST_CASE("UNAVAILABLE is retried until it works") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  server.FailNext(2, kUnavailable, "loading");
  CHECK(client->Lookup({{"words", kKeys}}).ok());
  CHECK(server.num_calls() == 3);

  server.FailNext(2, kUnavailable, "loading");
  CHECK(client->Update({Words(UpdateMode::kSet)}).ok());
  CHECK(server.num_calls() == 6);
}

TEST_CASE("Retries end with the attempts allowed") {
  FakeServer server;
  ClientOptions options = OptionsFor(server);
  options.max_attempts = 3;
  const auto client = Connect(options);
  server.FailNext(100, kUnavailable, "draining");
  const auto reply = client->Lookup({{"words", kKeys}});
  CHECK(absl::IsUnavailable(reply.status()));
  CHECK(reply.status().message() == "draining");
  CHECK(server.num_calls() == 3);

  CallOptions once;
  once.max_attempts = 1;
  CHECK_FALSE(client->Lookup({{"words", kKeys}}, once).ok());
  CHECK(server.num_calls() == 4);
}

TEST_CASE("An update with an ADD in it is never retried") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  server.FailNext(1, kUnavailable, "connection lost");
  const auto result =
      client->Update({Words(UpdateMode::kSet), Words(UpdateMode::kAdd)});
  CHECK(absl::IsUnavailable(result.status()));
  CHECK(server.num_calls() == 1);
}

TEST_CASE("No other code is retried") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  server.FailNext(1, kInternal, "broken");
  CHECK(absl::IsInternal(client->Lookup({{"words", kKeys}}).status()));
  CHECK(server.num_calls() == 1);
}

TEST_CASE("The deadline covers attempts and waits") {
  FakeServer server;
  ClientOptions options = OptionsFor(server);
  options.timeout = absl::Milliseconds(100);
  const auto client = Connect(options);

  server.DelayCalls(10'000);
  absl::Time start = absl::Now();
  CHECK(absl::IsDeadlineExceeded(client->Lookup({{"words", kKeys}}).status()));
  CHECK(absl::Now() - start < absl::Seconds(5));
  // gRPC rounds timers to milliseconds.
  CHECK(absl::Now() - start >= absl::Milliseconds(95));

  server.DelayCalls(0);
  server.FailNext(1'000'000, kUnavailable, "loading");
  CallOptions patient;
  patient.max_attempts = 1'000'000;
  start = absl::Now();
  const auto reply = client->Lookup({{"words", kKeys}}, patient);
  CHECK_FALSE(reply.ok());
  CHECK(absl::Now() - start < absl::Seconds(5));
}

TEST_CASE("A server that is not there is UNAVAILABLE, and found once it is") {
  ClientOptions options;
  {
    FakeServer server;
    options = OptionsFor(server);
  }
  options.max_attempts = 2;
  const auto client = Connect(options);
  CHECK(absl::IsUnavailable(client->GetServerInfo().status()));

  FakeServerOptions same;
  same.address = options.connection.address;
  FakeServer server(same);
  CallOptions patient;
  patient.max_attempts = 1000;
  CHECK(client->GetServerInfo(patient).ok());
}

TEST_CASE("Messages over gRPC's default of 4 MiB pass") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  std::vector<int64_t> keys(600'000);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int64_t>(i);
  const std::vector<float> values(keys.size() * 2, 0.5f);
  TableUpdate update{"items", keys};
  update.values = AsBytes(values);
  CHECK(client->Update({update}).ok());
  const auto reply = client->Lookup({{"items", keys}});
  REQUIRE(reply.ok());
  const TableRows& rows = (*reply)[0];
  CHECK(rows.num_rows() == keys.size());
  CHECK(rows.Floats(599'999) == std::vector<float>{0, 0});
}

TEST_CASE("Rows outlive the client and the connection") {
  std::vector<LookupReply> replies;
  for (int i = 0; i < 3; ++i) {
    FakeServer server;
    const auto client = Connect(OptionsFor(server));
    const std::vector<int64_t> keys(50'000, 3);
    auto reply = client->Lookup({{"items", keys}, {"words", kKeys}});
    REQUIRE(reply.ok());
    replies.push_back(*std::move(reply));
  }
  absl::SleepFor(absl::Milliseconds(50));  // gRPC winds down behind our back
  for (const LookupReply& reply : replies) {
    for (size_t i = 0; i < 50'000; ++i) {
      REQUIRE(reply[0].Floats(i) == std::vector<float>{0, 0});
    }
    CHECK(reply[1].IsMissing(1));
  }
  replies.clear();
}

TEST_CASE("The token travels as a bearer token") {
  FakeServer server;
  ClientOptions options = OptionsFor(server);
  REQUIRE(Connect(options)->GetServerInfo().ok());
  CHECK(server.last_authorization().empty());
  options.connection.token = "s3cret";
  REQUIRE(Connect(options)->GetServerInfo().ok());
  CHECK(server.last_authorization() == "Bearer s3cret");
}

TEST_CASE("Health is told") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  CHECK(*client->CheckHealth() == Health::kServing);
  server.SetServing(false);
  CHECK(*client->CheckHealth() == Health::kNotServing);
}

TEST_CASE("Options that make no sense are refused") {
  ClientOptions options;
  options.timeout = absl::ZeroDuration();
  CHECK(absl::IsInvalidArgument(Client::Create(options).status()));
  options = {};
  options.max_attempts = 0;
  CHECK(absl::IsInvalidArgument(Client::Create(options).status()));
  options = {};
  options.connection.token = "two words";
  CHECK(absl::IsInvalidArgument(Client::Create(options).status()));
  options = {};
  options.connection.tls = TlsOptions{"ca", "certificate", ""};
  CHECK(absl::IsInvalidArgument(Client::Create(options).status()));
}

TEST_CASE("One client serves many threads") {
  FakeServer server;
  const auto client = Connect(OptionsFor(server));
  std::vector<std::thread> threads;
  std::vector<int> num_ok(4);
  for (int& num : num_ok) {
    threads.emplace_back([&client, &num] {
      for (int i = 0; i < 50; ++i) {
        if (client->Update({Words(UpdateMode::kSet)}).ok() &&
            client->Lookup({{"words", kKeys}}).ok()) {
          ++num;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(num_ok == std::vector<int>(4, 50));
}

}  // namespace gatherd::client
