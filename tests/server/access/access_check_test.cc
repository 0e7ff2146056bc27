#include "server/access/access_check.h"

#include <catch2/catch.hpp>

#include "tests/server/access/temporary_folder.h"

namespace gatherd {
namespace {

ServerConfig At(const std::string& address) {
  ServerConfig config;
  config.address = address;
  return config;
}

TEST_CASE("A port that others can reach is warned of", "[access]") {
  for (const char* address : {"0.0.0.0:7400", "[::]:7400", "10.1.2.3:1"}) {
    ServerConfig open = At(address);
    REQUIRE(AccessWarnings(open).size() == 1);
    CHECK(AccessWarnings(open)[0] ==
          "anyone who reaches " + std::string(address) +
              " may read and change every table: neither `server.auth` nor "
              "`server.tls.client_ca` is set");
    // Encryption alone asks nobody who they are.
    open.tls = TlsConfig{"c", "k", ""};
    CHECK(AccessWarnings(open).size() == 1);
    open.tls->client_ca = "ca";
    CHECK(AccessWarnings(open).empty());
  }
  for (const char* address : {"127.0.0.1:0", "[::1]:1", "unix:/s"}) {
    CHECK(AccessWarnings(At(address)).empty());
  }
}

TEST_CASE("Tokens without encryption are warned of", "[access]") {
  ServerConfig config = At("127.0.0.1:7400");
  config.auth = AuthConfig{"r", "w"};
  CHECK(AccessWarnings(config) ==
        std::vector<std::string>{"tokens travel in the clear: `server.auth` is "
                                 "set without `server.tls`"});
  config.tls = TlsConfig{"c", "k", ""};
  CHECK(AccessWarnings(config).empty());
  config.address = "0.0.0.0:7400";
  CHECK(AccessWarnings(config).empty());
}

TEST_CASE("Files of access are checked before a start", "[access]") {
  const TemporaryFolder folder;
  ServerConfig config;
  CHECK(CheckAccessFiles(config).ok());
  const std::string tokens = folder.Write("tokens", "a b");
  config.auth = AuthConfig{tokens, ""};
  CHECK(std::string(CheckAccessFiles(config).message()).rfind(tokens, 0) == 0);
  const std::string text = folder.Write("text", "no PEM");
  config.tls = TlsConfig{text, text, ""};
  CHECK(CheckAccessFiles(config).message() ==
        text + ": holds no PEM certificate");
}

}  // namespace
}  // namespace gatherd
