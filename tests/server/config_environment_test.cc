#include "server/config_environment.h"

#include <catch2/catch.hpp>
#include <cstdlib>

namespace gatherd {
namespace {

TEST_CASE("Misspelt overrides are warned of, Kubernetes' variables not",
          "[config]") {
  for (const char* name :
       {"GATHERD_SERVER_ADDRESS", "GATHERD_SERVER_SERVICE_HOST",
        "GATHERD_SERVER_SERVICE_PORT", "GATHERD_SERVER_SERVICE_PORT_GRPC",
        "GATHERD_SERVER_PORT", "GATHERD_SERVER_PORT_7400_TCP",
        "GATHERD_SERVER_PORT_7400_TCP_ADDR",
        "GATHERD_SERVER_PORT_7400_TCP_PORT",
        "GATHERD_SERVER_PORT_7400_TCP_PROTO"}) {
    setenv(name, "x", 1);
  }
  CHECK(EnvironmentWarnings().empty());
  setenv("GATHERD_SERVER_ADRESS", "x", 1);
  setenv("GATHERD_SERVER_TLS", "x", 1);
  const std::vector<std::string> warnings = EnvironmentWarnings();
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0] ==
        "GATHERD_SERVER_ADRESS overrides nothing; perhaps "
        "GATHERD_SERVER_ADDRESS");
  CHECK(warnings[1] == "GATHERD_SERVER_TLS overrides nothing");
  for (const char* name :
       {"GATHERD_SERVER_ADDRESS", "GATHERD_SERVER_SERVICE_HOST",
        "GATHERD_SERVER_SERVICE_PORT", "GATHERD_SERVER_SERVICE_PORT_GRPC",
        "GATHERD_SERVER_PORT", "GATHERD_SERVER_PORT_7400_TCP",
        "GATHERD_SERVER_PORT_7400_TCP_ADDR",
        "GATHERD_SERVER_PORT_7400_TCP_PORT",
        "GATHERD_SERVER_PORT_7400_TCP_PROTO", "GATHERD_SERVER_ADRESS",
        "GATHERD_SERVER_TLS"}) {
    unsetenv(name);
  }
}

}  // namespace
}  // namespace gatherd
