#include "server/access/token_set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace gatherd {
namespace {

TokenSet Parse(const std::string& text) {
  auto tokens = TokenSet::Parse(text, "t");
  INFO(tokens.status());
  REQUIRE(tokens.ok());
  return *std::move(tokens);
}

bool Has(const TokenSet& tokens, const std::string& token) {
  return tokens.Contains(DigestOfToken(token));
}

TEST_CASE("A file has one token a line", "[access]") {
  const TokenSet tokens = Parse("one\n\n  two\t\r\nthree");
  CHECK(tokens.size() == 3);
  for (const char* token : {"one", "two", "three"}) CHECK(Has(tokens, token));
  for (const char* other : {"", "on", "onee", "One", "two ", "one\ntwo", "#"}) {
    CHECK_FALSE(Has(tokens, other));
  }
}

TEST_CASE("An empty file has no token", "[access]") {
  for (const char* text : {"", "\n", " \r\n\t\n"}) {
    CHECK(Parse(text).size() == 0);
    CHECK_FALSE(Has(Parse(text), ""));
  }
}

TEST_CASE("A line that is no token is named, not quoted", "[access]") {
  const std::string what =
      " has a space inside, or a character that is not printable ASCII; "
      "allowed: one token a line";
  CHECK(TokenSet::Parse("good\nse cret\n", "/f").status().message() ==
        "/f:2:" + what);
  CHECK(TokenSet::Parse("s\xC3\xA9", "/f").status().message() ==
        "/f:1:" + what);
  CHECK(TokenSet::Parse(std::string("a\0b", 3), "/f").status().message() ==
        "/f:1:" + what);
}

TEST_CASE("A file has up to a thousand tokens", "[access]") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\n";
  const TokenSet tokens = Parse(text);
  CHECK(tokens.size() == 1000);
  CHECK(Has(tokens, "0"));
  CHECK(Has(tokens, "999"));
  CHECK_FALSE(Has(tokens, "1000"));
  CHECK(TokenSet::Parse(text + "x", "/f").status().message() ==
        "/f:1001: is one token too many; allowed: 1000 in a file");
}

// The shortest of several runs: what other work on the machine adds is left
// out.
double SecondsOf(const TokenSet& tokens, const TokenDigest& digest) {
  double least = 1e9;
  for (int run = 0; run < 30; ++run) {
    const auto start = std::chrono::steady_clock::now();
    bool found = false;
    for (int i = 0; i < 20; ++i) found |= tokens.Contains(digest);
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    // Keeps the compiler from leaving the loop out.
    least = std::min(least, took.count() + (found ? 1e-12 : 0));
  }
  return least;
}

TEST_CASE("Comparing takes as long for any answer", "[access]") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "token" + std::to_string(i) + "\n";
  const TokenSet tokens = Parse(text);
  // An early exit would answer for the first in a thousandth of the time.
  const double first = SecondsOf(tokens, DigestOfToken("token0"));
  const double last = SecondsOf(tokens, DigestOfToken("token999"));
  const double none = SecondsOf(tokens, DigestOfToken("token1000"));
  CAPTURE(first, last, none);
  const auto [least, most] = std::minmax({first, last, none});
  CHECK(most < 3 * least);
}

}  // namespace
}  // namespace gatherd
