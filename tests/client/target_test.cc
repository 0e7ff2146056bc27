#include "client/target.h"

#include <catch2/catch.hpp>

#include "absl/strings/match.h"

namespace gatherd::client {

TEST_CASE("An address is of one server") {
  for (const char* address : {"localhost:7400", "10.0.0.1:7400", "[::1]:7400",
                              "unix:/run/a,b", "ipv4:10.0.0.1:7400"}) {
    const auto target = ParseAddress(address);
    REQUIRE(target.ok());
    CHECK(target->name == address);
    CHECK_FALSE(target->is_several);
  }
}

TEST_CASE("A list and a dns:/// name are of several") {
  const std::pair<const char*, const char*> targets[] = {
      {"10.0.0.1:7400,10.0.0.2:1", "ipv4:10.0.0.1:7400,10.0.0.2:1"},
      {"ipv4:10.0.0.1:7400,10.0.0.2:1", "ipv4:10.0.0.1:7400,10.0.0.2:1"},
      {"[::1]:7400,[fd00::2]:65535", "ipv6:[::1]:7400,[fd00::2]:65535"},
      {"ipv6:[::1]:7400,[::2]:1", "ipv6:[::1]:7400,[::2]:1"},
      {"dns:///words.serving.svc:7400", "dns:///words.serving.svc:7400"}};
  for (const auto& [address, name] : targets) {
    const auto target = ParseAddress(address);
    REQUIRE(target.ok());
    CHECK(target->name == name);
    CHECK(target->is_several);
  }
}

TEST_CASE("A list with anything else in it is refused, and it is named") {
  const std::pair<const char*, const char*> lists[] = {
      {"10.0.0.1:7400,", "\"\""},
      {",10.0.0.1:7400", "\"\""},
      {"10.0.0.1:7400, 10.0.0.2:7400", "\" 10.0.0.2:7400\""},
      {"10.0.0.1:7400,10.0.0.2", "\"10.0.0.2\""},
      {"10.0.0.1:7400,10.0.0.2:0", "\"10.0.0.2:0\""},
      {"10.0.0.1:7400,10.0.0.2:65536", "\"10.0.0.2:65536\""},
      {"10.0.0.1:7400,host:7400", "\"host:7400\""},
      {"10.0.0.1:7400,[::1]:7400", "\"[::1]:7400\""},
      {"[::1]:7400,10.0.0.1:7400", "\"10.0.0.1:7400\""},
      {"[::1]:7400,::2:7400", "\"::2:7400\""},
      {"[::1]:7400,[::2]", "\"[::2]\""}};
  for (const auto& [address, part] : lists) {
    const auto target = ParseAddress(address);
    CHECK(absl::IsInvalidArgument(target.status()));
    INFO(target.status());
    CHECK(absl::StrContains(target.status().message(), part));
  }
  CHECK(absl::IsInvalidArgument(ParseAddress("").status()));
}

}  // namespace gatherd::client
