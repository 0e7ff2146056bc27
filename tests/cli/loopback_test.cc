#include "cli/loopback.h"

#include <catch2/catch.hpp>

namespace gatherd {

TEST_CASE("Addresses that stay on the machine are known") {
  for (const char* address :
       {"127.0.0.1:7400", "127.9.9.9:1", "localhost:7400", "LOCALHOST:1",
        "[::1]:7400", "unix:/run/gatherd.sock", "unix:relative",
        "unix-abstract:name", "dns:///localhost:7400", "dns:127.0.0.1:1",
        "ipv4:127.0.0.1:7400", "ipv6:[::1]:7400", "localhost"}) {
    INFO(address);
    CHECK(IsLoopbackAddress(address));
  }
}

TEST_CASE("All others are taken for addresses that leave it") {
  for (const char* address :
       {"0.0.0.0:7400", "[::]:7400", "10.0.0.1:7400", "128.0.0.1:7400",
        "example.org:7400", "localhost.example.org:7400", "[::2]:7400",
        "127.0.0.1.example.org:1", "127.1:7400", "", ":7400", "dns:///x:1",
        "xds:///localhost:1"}) {
    INFO(address);
    CHECK_FALSE(IsLoopbackAddress(address));
  }
}

}  // namespace gatherd
