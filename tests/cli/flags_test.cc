#include "cli/flags.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace gatherd {
namespace {

constexpr FlagSpec kFlags[] = {
    {"config"}, {"check", /*takes_value=*/false}, {"gpus"}};

absl::StatusOr<CommandLine> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  return CommandLine::Parse(static_cast<int>(arguments.size()),
                            arguments.data(), kFlags);
}

TEST_CASE("Flags and words may come in any order") {
  const auto line =
      Parse({"lookup", "--config=a=b", "words", "--check", "-5", "-"});
  REQUIRE(line.ok());
  CHECK(line->Get("config") == "a=b");
  CHECK(line->Has("check"));
  CHECK(line->Get("check") == "");
  CHECK_FALSE(line->Has("gpus"));
  CHECK(line->Get("gpus") == std::nullopt);
  CHECK(line->words() ==
        std::vector<std::string>{"lookup", "words", "-5", "-"});
}

TEST_CASE("Behind -- everything is a word") {
  const auto line = Parse({"--check", "--", "--check", "--", "--nonsense=1"});
  REQUIRE(line.ok());
  CHECK(line->Has("check"));
  CHECK(line->words() ==
        std::vector<std::string>{"--check", "--", "--nonsense=1"});
}

TEST_CASE("An empty command line is one") {
  CHECK(Parse({}).ok());
  CHECK(CommandLine::Parse(0, nullptr, kFlags).ok());
  const auto line = Parse({"", "--config="});
  REQUIRE(line.ok());
  CHECK(line->words() == std::vector<std::string>{""});
  CHECK(line->Get("config") == "");
}

TEST_CASE("A wrong flag is refused by name") {
  struct Case {
    std::vector<const char*> arguments;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"--nonsense"}, "unknown flag --nonsense; --help lists the flags"},
      {{"--chec"}, "unknown flag --chec; --help lists the flags"},
      {{"--=1"}, "unknown flag --; --help lists the flags"},
      {{"--config"}, "flag --config needs a value: --config=VALUE"},
      {{"--config", "a"}, "flag --config needs a value: --config=VALUE"},
      {{"--check=yes"}, "flag --check takes no value, but was given \"yes\""},
      {{"--check="}, "flag --check takes no value, but was given \"\""},
      {{"--gpus=1", "x", "--gpus=1"}, "flag --gpus is given twice"},
  };
  for (const Case& c : cases) {
    const auto line = Parse(c.arguments);
    CHECK(line.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK(std::string(line.status().message()) == c.message);
  }
}

}  // namespace
}  // namespace gatherd
