#include "server/invocation.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace gatherd {
namespace {

absl::StatusOr<Invocation> Parse(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "gatherd");
  return ParseInvocation(static_cast<int>(flags.size()), flags.data());
}

TEST_CASE("What a command line asks for", "[invocation]") {
  const auto serve = Parse({"--config=a.yaml"});
  REQUIRE(serve.ok());
  CHECK(serve->action == Invocation::Action::kServe);
  CHECK(serve->config_path == "a.yaml");
  const auto check = Parse({"--gpus=8", "--check", "--config=a.yaml"});
  REQUIRE(check.ok());
  CHECK(check->action == Invocation::Action::kCheck);
  CHECK(check->num_gpus == 8);
  CHECK(Parse({"--check", "--config=a"})->num_gpus == 1);
  CHECK(Parse({"--version"})->action == Invocation::Action::kVersion);
  CHECK(Parse({"--help", "--config=a"})->action == Invocation::Action::kHelp);
}

TEST_CASE("Command lines that ask for nothing sensible", "[invocation]") {
  for (const std::vector<const char*>& flags :
       std::vector<std::vector<const char*>>{
           {},
           {"--check"},
           {"--config="},
           {"--config"},
           {"--config=a", "--config=b"},
           {"--config=a", "--check=yes"},
           {"--config=a", "--chek"},
           {"a.yaml"},
           {"--config=a", "b"},
           {"--config=a", "--gpus=2"},
           {"--config=a", "--check", "--gpus=0"},
           {"--config=a", "--check", "--gpus=-1"},
           {"--config=a", "--check", "--gpus=1025"},
           {"--config=a", "--check", "--gpus=two"},
       }) {
    CHECK(Parse(flags).status().code() == absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace gatherd
