#include "client/key_split.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;

const std::vector<std::string> kNames = {"c:1", "a:1", "b:1"};

}  // namespace

TEST_CASE("Every key goes to its owner, in its place among all") {
  const Rendezvous owners(kNames);
  std::vector<int64_t> keys = {std::numeric_limits<int64_t>::min(), -1, 7, 7,
                               std::numeric_limits<int64_t>::max()};
  for (int64_t key = 0; key < 100; ++key) keys.push_back(key << 33);
  const auto parts = SplitKeys("words", keys, {}, owners, kNames.size());
  REQUIRE(parts.ok());
  REQUIRE(parts->size() == kNames.size());
  std::vector<int> num_found(keys.size());
  for (size_t server = 0; server < parts->size(); ++server) {
    const KeyPart& part = (*parts)[server];
    CHECK(part.is_asked);
    CHECK(part.keys32.empty());
    REQUIRE(part.places.size() == part.keys.size());
    CHECK(std::is_sorted(part.places.begin(), part.places.end()));
    for (size_t i = 0; i < part.keys.size(); ++i) {
      CHECK(owners.Owner(part.keys[i]) == server);
      CHECK(keys[part.places[i]] == part.keys[i]);
      ++num_found[part.places[i]];
    }
  }
  CHECK(num_found == std::vector<int>(keys.size(), 1));
}

TEST_CASE("Keys of 32 bits have the owners of the same numbers") {
  const Rendezvous owners(kNames);
  std::vector<uint32_t> keys32 = {0, 1, 0x7fff'ffff, 0x8000'0000, 0xffff'ffff};
  const std::vector<int64_t> keys(keys32.begin(), keys32.end());
  const auto narrow = SplitKeys("words", {}, keys32, owners, kNames.size());
  const auto wide = SplitKeys("words", keys, {}, owners, kNames.size());
  REQUIRE(narrow.ok());
  REQUIRE(wide.ok());
  for (size_t server = 0; server < kNames.size(); ++server) {
    const KeyPart& part = (*narrow)[server];
    CHECK(part.keys.empty());
    CHECK(part.places == (*wide)[server].places);
    CHECK(std::vector<int64_t>(part.keys32.begin(), part.keys32.end()) ==
          (*wide)[server].keys);
  }
}

TEST_CASE("Servers that own none of the keys are not asked") {
  const Rendezvous owners(kNames);
  const int64_t key = 5;
  const auto parts = SplitKeys("words", {&key, 1}, {}, owners, kNames.size());
  REQUIRE(parts.ok());
  for (size_t server = 0; server < kNames.size(); ++server) {
    CHECK((*parts)[server].is_asked == (owners.Owner(key) == server));
  }
}

TEST_CASE("One server is asked where there are no keys") {
  const Rendezvous owners(kNames);
  const auto parts = SplitKeys("words", {}, {}, owners, kNames.size());
  REQUIRE(parts.ok());
  int num_asked = 0;
  for (const KeyPart& part : *parts) num_asked += part.is_asked ? 1 : 0;
  CHECK(num_asked == 1);
}

TEST_CASE("Keys that no server could be asked for are refused") {
  const Rendezvous owners(kNames);
  const int64_t key = 5;
  const uint32_t key32 = 5;
  const auto both =
      SplitKeys("words", {&key, 1}, {&key32, 1}, owners, kNames.size());
  CHECK(absl::IsInvalidArgument(both.status()));
  CHECK_THAT(std::string(both.status().message()), Contains("\"words\""));
  // Refused by their number: the keys are not read.
  const auto many =
      SplitKeys("words", {&key, uint64_t{1} << 32}, {}, owners, kNames.size());
  CHECK(absl::IsInvalidArgument(many.status()));
  CHECK_THAT(std::string(many.status().message()), Contains("2^32"));
}

}  // namespace gatherd::client
