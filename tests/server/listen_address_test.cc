#include "server/listen_address.h"

#include <catch2/catch.hpp>

namespace gatherd {
namespace {

TEST_CASE("host and port of an address") {
  CHECK(ParseHostPort("0.0.0.0:7400")->host == "0.0.0.0");
  CHECK(ParseHostPort("localhost:0")->port == 0);
  CHECK(ParseHostPort("[::1]:65535")->host == "::1");
  CHECK(ParseHostPort("[::1]:65535")->port == 65535);
  for (const char* wrong : {"", "host", "host:", "host:x", "host:65536"}) {
    CHECK(!ParseHostPort(wrong).ok());
  }
}

TEST_CASE("the port that was picked replaces 0") {
  CHECK(WithPort("[::]:0", 17) == "[::]:17");
  CHECK(WithPort("unix:/tmp/socket", 1) == "unix:/tmp/socket");
}

}  // namespace
}  // namespace gatherd
