// One client of several servers that have the same tables.
#include <catch2/catch.hpp>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "tests/client/fake_server.h"

namespace gatherd::client {
namespace {

constexpr int64_t kKeys[] = {7, -3};

std::unique_ptr<Client> ConnectTo(const std::string& addresses) {
  ClientOptions options;
  options.connection.address = addresses;
  options.backoff.initial = absl::Milliseconds(10);
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
  REQUIRE(client.ok());
  return *std::move(client);
}

bool LookUp(Client& client) { return client.Lookup({{"words", kKeys}}).ok(); }

// Asks until every server has been asked since `begin`, as once all are
// connected.
bool ReachesAll(Client& client, const std::vector<const FakeServer*>& servers) {
  std::vector<int> before;
  for (const FakeServer* server : servers)
    before.push_back(server->num_calls());
  for (const absl::Time end = absl::Now() + absl::Seconds(20);
       absl::Now() < end; absl::SleepFor(absl::Milliseconds(1))) {
    if (!LookUp(client)) return false;
    size_t num_reached = 0;
    for (size_t i = 0; i < servers.size(); ++i) {
      num_reached += servers[i]->num_calls() > before[i] ? 1 : 0;
    }
    if (num_reached == servers.size()) return true;
  }
  return false;
}

// Asks until `server` was left alone for 20 calls on end.
bool Leaves(Client& client, const FakeServer& server) {
  for (const absl::Time end = absl::Now() + absl::Seconds(20);
       absl::Now() < end;) {
    const int before = server.num_calls();
    for (int i = 0; i < 20; ++i) {
      if (!LookUp(client)) return false;
    }
    if (server.num_calls() == before) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("Several servers are asked in turn") {
  FakeServer a, b;
  const auto client = ConnectTo(absl::StrCat(a.address(), ",", b.address()));
  REQUIRE(ReachesAll(*client, {&a, &b}));
  const int before_a = a.num_calls(), before_b = b.num_calls();
  for (int i = 0; i < 100; ++i) REQUIRE(LookUp(*client));
  CHECK(a.num_calls() - before_a == 50);
  CHECK(b.num_calls() - before_b == 50);
}

TEST_CASE(
    "A server that does not serve is left, and asked again once it does") {
  FakeServer a, b;
  const auto client = ConnectTo(absl::StrCat(a.address(), ",", b.address()));
  REQUIRE(ReachesAll(*client, {&a, &b}));
  a.SetServing(false);
  CHECK(Leaves(*client, a));
  a.SetServing(true);
  CHECK(ReachesAll(*client, {&a, &b}));
}

TEST_CASE("An attempt that is refused is repeated at another server") {
  FakeServer a, b;
  const auto client = ConnectTo(absl::StrCat(a.address(), ",", b.address()));
  REQUIRE(ReachesAll(*client, {&a, &b}));
  a.FailNext(1'000'000, static_cast<int>(absl::StatusCode::kUnavailable),
             "draining");
  for (int i = 0; i < 20; ++i) CHECK(LookUp(*client));
  CHECK(a.num_calls() > 10);
}

TEST_CASE("A server that ends is missed by nobody, and found again") {
  FakeServer a;
  auto b = std::make_unique<FakeServer>();
  const std::string address_b = b->address();
  const auto client = ConnectTo(absl::StrCat(a.address(), ",", address_b));
  REQUIRE(ReachesAll(*client, {&a, b.get()}));
  b.reset();
  for (int i = 0; i < 50; ++i) CHECK(LookUp(*client));
  FakeServerOptions same;
  same.address = address_b;
  FakeServer again(same);
  CHECK(ReachesAll(*client, {&a, &again}));
}

}  // namespace gatherd::client
