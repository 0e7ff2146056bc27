#include "server/access/access_control.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/access/temporary_folder.h"

namespace gatherd {
namespace {

constexpr char kLookup[] = "/gatherd.v1.EmbeddingService/Lookup";
constexpr char kUpdate[] = "/gatherd.v1.EmbeddingService/Update";
constexpr char kHealth[] = "/grpc.health.v1.Health/Check";

absl::StatusCode CodeOf(const AccessControl& control, std::string_view path,
                        const std::vector<std::string_view>& authorization) {
  return control.Check(path, authorization).code();
}

std::unique_ptr<AccessControl> Create(const AuthConfig& config) {
  auto control = AccessControl::Create(config);
  INFO(control.status());
  REQUIRE(control.ok());
  return *std::move(control);
}

constexpr auto kOk = absl::StatusCode::kOk;
constexpr auto kUnknown = absl::StatusCode::kUnauthenticated;
constexpr auto kDenied = absl::StatusCode::kPermissionDenied;

TEST_CASE("A token may do what its file says", "[access]") {
  const TemporaryFolder folder;
  const auto control = Create(
      {folder.Write("r", "read\nboth\n"), folder.Write("w", "write\nboth")});
  CHECK(CodeOf(*control, kLookup, {"Bearer read"}) == kOk);
  CHECK(CodeOf(*control, kUpdate, {"Bearer read"}) == kDenied);
  for (const char* token : {"Bearer write", "Bearer both"}) {
    CHECK(CodeOf(*control, kLookup, {token}) == kOk);
    CHECK(CodeOf(*control, kUpdate, {token}) == kOk);
  }
  for (const char* path : {kLookup, kUpdate, "/no/method", ""}) {
    CHECK(CodeOf(*control, path, {}) == kUnknown);
    CHECK(CodeOf(*control, path, {"Bearer reed"}) == kUnknown);
  }
  CHECK(CodeOf(*control, kHealth, {}) == kOk);
  CHECK(CodeOf(*control, kHealth, {"Bearer reed"}) == kOk);
}

TEST_CASE("Only one bearer token counts", "[access]") {
  const TemporaryFolder folder;
  const auto control = Create({folder.Write("r", "read"), ""});
  for (const char* good : {"Bearer read", "bearer read", "BEARER   read"}) {
    CHECK(CodeOf(*control, kLookup, {good}) == kOk);
  }
  for (const char* bad :
       {"read", "Basic read", "Bearer", "Bearer ", "Bearer\tread",
        "Bearer read ", " Bearer read", "Bearerread", "Bearer read,read",
        "Bearer rea", "Bearer readd"}) {
    INFO(bad);
    CHECK(CodeOf(*control, kLookup, {bad}) == kUnknown);
  }
  CHECK(CodeOf(*control, kLookup, {"Bearer read", "Bearer read"}) == kUnknown);
}

TEST_CASE("Without a file of read tokens, write tokens read", "[access]") {
  const TemporaryFolder folder;
  const auto control = Create({"", folder.Write("w", "write")});
  CHECK(CodeOf(*control, kLookup, {}) == kUnknown);
  CHECK(CodeOf(*control, kLookup, {"Bearer write"}) == kOk);
  CHECK(CodeOf(*control, kUpdate, {"Bearer write"}) == kOk);
}

TEST_CASE("Without a file of write tokens, nobody writes", "[access]") {
  const TemporaryFolder folder;
  const auto control = Create({folder.Write("r", "read"), ""});
  CHECK(CodeOf(*control, kLookup, {"Bearer read"}) == kOk);
  CHECK(CodeOf(*control, kUpdate, {"Bearer read"}) == kDenied);
  CHECK(CodeOf(*control, kUpdate, {}) == kUnknown);
}

TEST_CASE("An empty file lets nobody in", "[access]") {
  const TemporaryFolder folder;
  const auto control = Create({folder.Write("r", "\n"), ""});
  for (const char* token : {"Bearer ", "Bearer \n", "Bearer"}) {
    CHECK(CodeOf(*control, kLookup, {token}) == kUnknown);
  }
}

TEST_CASE("Refusals do not tell the token", "[access]") {
  const TemporaryFolder folder;
  const auto control = Create({folder.Write("r", "sesame"), ""});
  for (const std::string_view header :
       {"Bearer sesame", "Bearer sesamee", "sesame"}) {
    const absl::Status status = control->Check(kUpdate, {header});
    CHECK_FALSE(status.ok());
    CHECK(std::string(status.message()).find("sesame") == std::string::npos);
  }
}

TEST_CASE("New tokens replace the old ones; a broken file changes nothing",
          "[access]") {
  const TemporaryFolder folder;
  const auto control =
      Create({folder.Write("r", "old"), folder.Write("w", "w")});
  folder.Write("r", "new");
  control->ReadAgain();
  CHECK(CodeOf(*control, kLookup, {"Bearer new"}) == kOk);
  CHECK(CodeOf(*control, kLookup, {"Bearer old"}) == kUnknown);

  folder.Write("r", "newer");
  folder.Write("w", "not a token");
  control->ReadAgain();
  CHECK(CodeOf(*control, kLookup, {"Bearer new"}) == kOk);
  CHECK(CodeOf(*control, kUpdate, {"Bearer w"}) == kOk);
  CHECK(CodeOf(*control, kLookup, {"Bearer newer"}) == kUnknown);
  CHECK(control->is_stale());

  folder.Write("w", "");
  control->ReadAgain();
  CHECK(CodeOf(*control, kLookup, {"Bearer newer"}) == kOk);
  CHECK(CodeOf(*control, kUpdate, {"Bearer w"}) == kUnknown);
  CHECK_FALSE(control->is_stale());
}

TEST_CASE("Files that are wrong at start are refused by name", "[access]") {
  const TemporaryFolder folder;
  const std::string bad = folder.Write("bad", "fine\na b\n");
  const auto control = AccessControl::Create({"", bad});
  CHECK(absl::IsInvalidArgument(control.status()));
  CHECK(std::string(control.status().message()).rfind(bad + ":2: ", 0) == 0);
  CHECK(absl::IsInvalidArgument(
      AccessControl::Create({folder.PathOf("gone"), ""}).status()));
}

TEST_CASE("Calls are checked while tokens are replaced", "[access]") {
  const TemporaryFolder folder;
  const auto control = Create({folder.Write("r", "a\nkeep"), ""});
  std::atomic<bool> stop{false};
  std::atomic<int> num_wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      while (!stop) {
        if (CodeOf(*control, kLookup, {"Bearer keep"}) != kOk) ++num_wrong;
        if (CodeOf(*control, kLookup, {"Bearer none"}) == kOk) ++num_wrong;
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    folder.Write("r", i % 2 == 0 ? "keep\nb" : "a\nkeep\nc");
    control->ReadAgain();
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();
  CHECK(num_wrong == 0);
}

}  // namespace
}  // namespace gatherd
