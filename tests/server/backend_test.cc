#include "server/backend.h"

#include <catch2/catch.hpp>
#include <string>

namespace gatherd {
namespace {

TEST_CASE("The CPU backend makes tables", "[backend]") {
  const auto backend = SelectBackend({DevicesConfig::Kind::kCpu, {}});
  REQUIRE(backend.ok());
  CHECK(backend->name == "cpu");
  CHECK(backend->devices.empty());
  CHECK(backend->warning.empty());
  TableSpec spec;
  spec.name = "t";
  spec.dim = 4;
  spec.tiers = {{TierKind::kHost, 10, Spread::kSharded}};
  const auto table = backend->make_table(spec);
  REQUIRE(table.ok());
  CHECK((*table)->spec().name == "t");
}

TEST_CASE("Without a GPU, auto warns and uses the CPU", "[backend]") {
  const auto backend = SelectBackend({DevicesConfig::Kind::kAuto, {}});
  REQUIRE(backend.ok());
  CHECK(backend->name == "cpu");
  CHECK(backend->warning.find("CPU backend") != std::string::npos);
}

TEST_CASE("Without a GPU, a demand for one is refused", "[backend]") {
  for (const DevicesConfig& devices :
       {DevicesConfig{DevicesConfig::Kind::kCuda, {}},
        DevicesConfig{DevicesConfig::Kind::kList, {0, 1}}}) {
    const absl::Status status = SelectBackend(devices).status();
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK(std::string(status.message()).find("no usable GPU") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace gatherd
