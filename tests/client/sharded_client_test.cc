#include "client/sharded_client.h"

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/rendezvous.h"
#include "tests/client/fake_server.h"

namespace gatherd::client {
namespace {

constexpr int kUnavailable = static_cast<int>(absl::StatusCode::kUnavailable);
constexpr int64_t kNumKeys = 200;

// Three fake servers, a client of all, and 200 keys that were written.
class Shards {
 public:
  explicit Shards(LostKeys lost_keys = LostKeys::kFail) {
    ShardedClientOptions options;
    for (auto& server : servers_) {
      server = std::make_unique<FakeServer>();
      options.servers.push_back(server->address());
    }
    options.lost_keys = lost_keys;
    options.client.max_attempts = 2;
    options.client.backoff.initial = absl::Milliseconds(1);
    addresses_ = options.servers;
    auto client = ShardedClient::Create(options);
    REQUIRE(client.ok());
    client_ = *std::move(client);
    for (int64_t key = 0; key < kNumKeys; ++key) {
      keys_.push_back(key);
      for (int j = 0; j < 4; ++j) {
        values_.push_back(static_cast<float>(10 * key + j));
      }
    }
  }

  TableUpdate Update() const {
    TableUpdate update{"words", keys_};
    update.values = AsBytes(values_);
    return update;
  }

  bool IsRow(const TableRows& rows, size_t i, int64_t key) const {
    const auto first = static_cast<float>(10 * key);
    return rows.Floats(i) ==
           std::vector<float>{first, first + 1, first + 2, first + 3};
  }

  ShardedClient& client() { return *client_; }
  FakeServer& server(size_t i) { return *servers_[i]; }
  const std::string& address(size_t i) const { return addresses_[i]; }
  const std::vector<int64_t>& keys() const { return keys_; }

  void Stop(size_t i) { servers_[i].reset(); }
  void StartAgain(size_t i) {
    FakeServerOptions same;
    same.address = addresses_[i];
    servers_[i] = std::make_unique<FakeServer>(same);
  }

 private:
  std::unique_ptr<FakeServer> servers_[3];
  std::vector<std::string> addresses_;
  std::unique_ptr<ShardedClient> client_;
  std::vector<int64_t> keys_;
  std::vector<float> values_;
};

}  // namespace

TEST_CASE("Rows of a table are spread over servers and found again") {
  Shards shards;
  const auto updated = shards.client().Update({shards.Update()});
  REQUIRE(updated.ok());
  CHECK((*updated)[0].num_inserted == kNumKeys);

  const Rendezvous owners(std::vector<std::string>{
      shards.address(0), shards.address(1), shards.address(2)});
  for (const int64_t key : shards.keys()) {
    for (size_t i = 0; i < 3; ++i) {
      CHECK(shards.server(i).GetTable("words").rows.count(key) ==
            (owners.Owner(key) == i ? 1 : 0));
    }
  }

  const std::vector<int64_t> keys = {150, 3, 999, 3, 77, 0};
  const auto reply =
      shards.client().Lookup({{"words", keys}, {"items", {}}, {"words", {}}});
  REQUIRE(reply.ok());
  CHECK(reply->lost_servers.empty());
  REQUIRE(reply->tables.size() == 3);
  const TableRows& rows = reply->tables[0];
  REQUIRE(rows.num_rows() == keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    CHECK(rows.IsMissing(i) == (keys[i] == 999));
    if (keys[i] != 999) CHECK(shards.IsRow(rows, i, keys[i]));
  }
  CHECK(rows.num_missing() == 1);
  CHECK(reply->tables[1].dim() == 2);
  CHECK(reply->tables[2].num_rows() == 0);

  const auto erased = shards.client().Erase({{"words", shards.keys()}});
  REQUIRE(erased.ok());
  CHECK((*erased)[0].num_erased == kNumKeys);
}

TEST_CASE("A server's refusal is the call's, with the server's name") {
  Shards shards;
  const auto reply = shards.client().Lookup({{"nowhere", shards.keys()}});
  CHECK(absl::IsNotFound(reply.status()));
  CHECK(reply.status().message() ==
        absl::StrCat("server ", shards.address(0),
                     ": table \"nowhere\" does not exist"));
  CHECK(absl::IsNotFound(shards.client().Erase({{"nowhere", {}}}).status()));
  TableUpdate crooked = shards.Update();
  crooked.values.remove_suffix(1);
  CHECK(absl::IsInvalidArgument(shards.client().Update({crooked}).status()));
}

TEST_CASE("Keys of a lost server fail the call, until it returns") {
  Shards shards;
  REQUIRE(shards.client().Update({shards.Update()}).ok());
  shards.Stop(1);
  const auto lost = shards.client().Lookup({{"words", shards.keys()}});
  CHECK(absl::IsUnavailable(lost.status()));
  CHECK(absl::StrContains(lost.status().message(),
                          absl::StrCat("server ", shards.address(1))));
  CHECK(
      absl::IsUnavailable(shards.client().Update({shards.Update()}).status()));

  shards.StartAgain(1);
  CallOptions patient;
  patient.max_attempts = 1000;
  REQUIRE(shards.client().Update({shards.Update()}, patient).ok());
  const auto reply = shards.client().Lookup({{"words", shards.keys()}});
  REQUIRE(reply.ok());
  CHECK(reply->tables[0].num_missing() == 0);
}

TEST_CASE("Keys of a lost server are missing, if that is asked for") {
  Shards shards(LostKeys::kMissing);
  REQUIRE(shards.client().Update({shards.Update()}).ok());
  REQUIRE(shards.client().Lookup({{"words", shards.keys()}}).ok());
  shards.Stop(1);
  const auto reply = shards.client().Lookup({{"words", shards.keys()}});
  REQUIRE(reply.ok());
  CHECK(reply->lost_servers == std::vector<std::string>{shards.address(1)});
  const TableRows& rows = reply->tables[0];
  const Rendezvous owners(std::vector<std::string>{
      shards.address(0), shards.address(1), shards.address(2)});
  std::optional<int64_t> lost_key;
  for (size_t i = 0; i < shards.keys().size(); ++i) {
    const int64_t key = shards.keys()[i];
    const bool is_lost = owners.Owner(key) == 1;
    CHECK(rows.IsMissing(i) == is_lost);
    if (is_lost) {
      lost_key = key;
      CHECK(rows.Floats(i) == std::vector<float>(4));
    } else {
      CHECK(shards.IsRow(rows, i, key));
    }
  }
  // All keys at the lost server: rows look as they did.
  REQUIRE(lost_key.has_value());
  const auto single = shards.client().Lookup({{"words", {*lost_key}}});
  REQUIRE(single.ok());
  CHECK(single->tables[0].dim() == 4);
  CHECK(single->tables[0].IsMissing(0));
  // Writes are never partial, and refusals are no losses.
  CHECK(
      absl::IsUnavailable(shards.client().Update({shards.Update()}).status()));
  CHECK(absl::IsNotFound(
      shards.client().Lookup({{"nowhere", shards.keys()}}).status()));
}

TEST_CASE("An update with an ADD in it is not repeated at any server") {
  Shards shards;
  TableUpdate update = shards.Update();
  update.mode = UpdateMode::kAdd;
  shards.server(2).FailNext(1, kUnavailable, "draining");
  CHECK(absl::IsUnavailable(shards.client().Update({update}).status()));
  CHECK(shards.server(2).num_calls() == 1);
}

TEST_CASE("Sharded options that make no sense are refused") {
  ShardedClientOptions options;
  CHECK(absl::IsInvalidArgument(ShardedClient::Create(options).status()));
  options.servers = {"a:1", "b:1", "a:1"};
  const absl::Status twice = ShardedClient::Create(options).status();
  CHECK(twice.message() == "server \"a:1\" is named twice");
  options.servers = {"a:1"};
  options.dns_name = "b:1";
  CHECK(absl::IsInvalidArgument(ShardedClient::Create(options).status()));
  options.servers = {};
  options.dns_name = "no-port";
  CHECK(absl::IsInvalidArgument(ShardedClient::Create(options).status()));
  options.dns_name = "127.0.0.1:1";
  options.resolve_interval = absl::ZeroDuration();
  CHECK(absl::IsInvalidArgument(ShardedClient::Create(options).status()));
  options.resolve_interval = absl::Seconds(1);
  options.client.max_attempts = 0;
  CHECK(absl::IsInvalidArgument(ShardedClient::Create(options).status()));
}

TEST_CASE("A name has the servers of its addresses") {
  FakeServer server;
  ShardedClientOptions options;
  options.dns_name = server.address();
  const auto client = ShardedClient::Create(options);
  REQUIRE(client.ok());
  const int64_t keys[] = {1};
  CHECK((*client)->Lookup({{"words", keys}}).ok());
}

}  // namespace gatherd::client
