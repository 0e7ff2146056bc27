#include "client/rendezvous.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace gatherd::client {
namespace {

std::vector<std::string> Names(size_t num_servers) {
  std::vector<std::string> names;
  for (size_t i = 0; i < num_servers; ++i) {
    names.push_back(absl::StrCat("words-", i, ".words.serving.svc:7400"));
  }
  return names;
}

// Of every pattern that ids come in.
int64_t KeyOf(int pattern, int64_t i) {
  switch (pattern) {
    case 0:
      return i;
    case 1:
      return i * 4096;
    case 2:
      return i << 32;
    case 3:
      return -i;
    default:
      return static_cast<int64_t>(static_cast<uint64_t>(i) *
                                  0x9e3779b97f4a7c15);
  }
}

constexpr int kNumPatterns = 5;
constexpr int64_t kNumKeys = 100'000;

}  // namespace

TEST_CASE("Owners are those of testdata/rendezvous.txt") {
  std::ifstream file("testdata/rendezvous.txt");
  REQUIRE(file.is_open());
  std::vector<std::string> names;
  int num_keys = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words[0] == "servers") {
      names.assign(words.begin() + 1, words.end());
      continue;
    }
    int64_t key = 0;
    REQUIRE(absl::SimpleAtoi(words[0], &key));
    CHECK(names[Rendezvous(names).Owner(key)] == words[1]);
    ++num_keys;
  }
  CHECK(num_keys > 100);
}

TEST_CASE("Every server owns an even share") {
  for (const size_t num_servers : {1, 2, 3, 8, 20}) {
    const Rendezvous owners(Names(num_servers));
    for (int pattern = 0; pattern < kNumPatterns; ++pattern) {
      std::vector<double> counts(num_servers);
      for (int64_t i = 0; i < kNumKeys; ++i) {
        ++counts[owners.Owner(KeyOf(pattern, i))];
      }
      // Five standard deviations of a fair draw.
      const double share = 1.0 / static_cast<double>(num_servers);
      const double bound = 5 * std::sqrt(kNumKeys * share * (1 - share));
      for (const double count : counts) {
        CHECK(std::abs(count - kNumKeys * share) <= bound);
      }
    }
  }
}

TEST_CASE("When a server leaves only its keys move, and evenly") {
  const std::vector<std::string> names = Names(5);
  std::vector<std::string> rest = names;
  rest.erase(rest.begin() + 2);
  const Rendezvous before(names), after(rest);
  std::vector<double> gains(rest.size());
  double num_moved = 0;
  for (int64_t key = 0; key < kNumKeys; ++key) {
    const size_t old_owner = before.Owner(key);
    const size_t new_owner = after.Owner(key);
    if (old_owner == 2) {
      ++gains[new_owner];
      ++num_moved;
    } else {
      REQUIRE(rest[new_owner] == names[old_owner]);
    }
  }
  for (const double gain : gains) {
    CHECK(std::abs(gain - num_moved / 4) <
          5 * std::sqrt(num_moved * 0.25 * 0.75));
  }
}

TEST_CASE("The order of names does not matter") {
  const std::vector<std::string> names = Names(7);
  const std::vector<std::string> reversed(names.rbegin(), names.rend());
  const Rendezvous owners(names), of_reversed(reversed);
  for (int64_t key = 0; key < 10'000; ++key) {
    REQUIRE(names[owners.Owner(key)] == reversed[of_reversed.Owner(key)]);
  }
}

}  // namespace gatherd::client
