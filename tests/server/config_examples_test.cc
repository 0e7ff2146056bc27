#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "server/check.h"
#include "server/config.h"

namespace gatherd {
namespace {

TEST_CASE("Every configuration that comes with the server loads", "[config]") {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator("configs")) {
    if (file.path().extension() != ".yaml") continue;
    names.insert(file.path().stem().string());
    const auto config = LoadConfig(file.path().string());
    INFO(config.status());
    REQUIRE(config.ok());
    CHECK(CheckWarnings(*config).empty());  // its sources are there
    CHECK_FALSE(config->tables.empty());
  }
  CHECK(names ==
        std::set<std::string>{"multi_gpu", "quickstart", "single_gpu"});
}

std::string Documentation() {
  std::ifstream file("docs/configuration.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("Every key stands in the documentation", "[config]") {
  const std::string text = Documentation();
  for (const std::string& key : ConfigKeys()) {
    CAPTURE(key);
    CHECK(text.find("`" + key + "`") != std::string::npos);
  }
}

TEST_CASE("The example of the documentation loads", "[config]") {
  const std::string text = Documentation();
  const std::string fence = "```yaml\n";
  const size_t begin = text.find(fence) + fence.size();
  const size_t end = text.find("```", begin);
  REQUIRE(end != std::string::npos);
  const auto config = ParseConfig(text.substr(begin, end - begin), "/example");
  INFO(config.status());
  REQUIRE(config.ok());
  CHECK(config->tables.size() == 2);
}

}  // namespace
}  // namespace gatherd
