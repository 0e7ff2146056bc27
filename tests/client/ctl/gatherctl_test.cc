// The real program against a fake server: exit codes, and what it prints.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/version.h"
#include "tests/client/fake_server.h"
#include "tests/client/npy_text.h"
#include "tests/client/run_program.h"

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Json = nlohmann::json;

constexpr char kProgram[] = "client/gatherctl";
constexpr int kPermissionDenied = 7;
constexpr int kUnavailable = 14;

ProgramResult Run(const FakeServer& server,
                  std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--address=" + server.address());
  return RunProgram(kProgram, arguments);
}

Json RunJson(const FakeServer& server, std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const ProgramResult result = Run(server, arguments);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  return Json::parse(result.out);
}

}  // namespace

TEST_CASE("Rows are written, looked up and erased") {
  FakeServer server;
  ProgramResult result =
      Run(server, {"update", "words", "-7=1,2,3,4", "fnv:the=0.1,0.2,0.3,0.4"});
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out, StartsWith("0 updated, 2 inserted"));

  result = Run(server, {"lookup", "words", "-7", "fnv:the", "8"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("found    1 2 3 4\n"));
  CHECK_THAT(result.out, Contains("(fnv:the)"));
  CHECK_THAT(result.out, Contains("missing  0 0 0 0\n"));

  const Json json = RunJson(server, {"lookup", "words", "-7", "8"});
  CHECK(json["rows"][0]["key"] == -7);
  CHECK(json["rows"][0]["values"] == Json({1.0, 2.0, 3.0, 4.0}));
  CHECK(json["rows"][1]["missing"] == true);

  CHECK(RunJson(server, {"erase", "words", "-7", "8"})["num_erased"] == 1);
  CHECK(server.GetTable("words").rows.size() == 1);
}

TEST_CASE("Updates add, or leave absent keys alone, when told so") {
  FakeServer server;
  Run(server, {"update", "words", "1=1,1,1,1"});
  CHECK(RunJson(server, {"update", "words", "1=1,2,3,4",
                         "--mode=add"})["num_updated"] == 1);
  CHECK(server.GetTable("words").rows[1] == std::vector<float>{2, 3, 4, 5});
  CHECK(RunJson(server, {"--mode=set_existing", "update", "words",
                         "2=1,2,3,4"})["num_skipped"] == 1);
  CHECK(server.GetTable("words").rows.count(2) == 0);
}

TEST_CASE("The server is inspected") {
  FakeServer server;
  CHECK(RunJson(server, {"info"})["version"] == "9.9.9");
  CHECK(RunJson(server, {"tables"})["tables"].size() == 2);
  CHECK_THAT(Run(server, {"info"}).out, Contains("9.9.9"));
  CHECK_THAT(Run(server, {"tables"}).out, Contains("words: hashed, float32"));
}

TEST_CASE("Health is an exit code") {
  FakeServer server;
  CHECK(RunJson(server, {"health"})["status"] == "SERVING");
  server.SetServing(false);
  ProgramResult result = Run(server, {"health"});
  CHECK(result.exit_code == 1);
  CHECK(result.out == "NOT_SERVING\n");
  result = Run(server, {"health", "--json"});
  CHECK(result.exit_code == 1);
  CHECK(Json::parse(result.out)["status"] == "NOT_SERVING");
}

TEST_CASE("What the server refuses is exit code 1, code and message") {
  FakeServer server;
  const ProgramResult result = Run(server, {"lookup", "nowhere", "1"});
  CHECK(result.exit_code == 1);
  CHECK(result.out.empty());
  CHECK(result.err == "NOT_FOUND: table \"nowhere\" does not exist\n");
  CHECK(Run(server, {"update", "nowhere", "1=1"}).exit_code == 1);
  CHECK(Run(server, {"erase", "nowhere", "1"}).exit_code == 1);
  CHECK(Run(server, {"update", "words", "1=1"}).exit_code == 1);

  server.FailNext(1, kPermissionDenied, "no right to write");
  CHECK(Run(server, {"tables"}).err ==
        "PERMISSION_DENIED: no right to write\n");
  server.FailNext(100, kUnavailable, "draining");
  CHECK(Run(server, {"info"}).err == "UNAVAILABLE: draining\n");
}

TEST_CASE("No server, or one that takes too long, is exit code 1") {
  std::string gone;
  {
    FakeServer server;
    gone = server.address();
    server.DelayCalls(10'000);
    const ProgramResult slow = Run(server, {"info", "--timeout=50ms"});
    CHECK(slow.exit_code == 1);
    CHECK_THAT(slow.err, StartsWith("DEADLINE_EXCEEDED: "));
  }
  for (const char* command : {"info", "health"}) {
    const ProgramResult result =
        RunProgram(kProgram, {"--address=" + gone, command});
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.err, StartsWith("UNAVAILABLE: "));
  }
}

TEST_CASE("Bad usage is exit code 2, and asks no server") {
  FakeServer server;
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"frobnicate"},
      {"--frobnicate", "info"},
      {"info", "extra"},
      {"lookup"},
      {"lookup", "words"},
      {"lookup", "words", "seven"},
      {"lookup", "words", "1", "--mode=set"},
      {"update", "words"},
      {"update", "words", "1"},
      {"update", "words", "1=a"},
      {"update", "words", "1=1,2", "2=1"},
      {"update", "words", "1=1", "--mode=replace"},
      {"erase", "words"},
      {"erase", "words", "1.5"},
      {"load", "words"},
      {"save", "words"},
      {"info", "--timeout=soon"},
      {"info", "--timeout=0"},
      {"info", "--json=yes"},
      {"info", "--cert=only.pem"},
      {"info", "--token-file=/nowhere/token"},
  };
  for (const std::vector<std::string>& arguments : wrong) {
    const ProgramResult result = Run(server, arguments);
    INFO(arguments.size() << " " << (arguments.empty() ? "" : arguments[0])
                          << ": " << result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    CHECK_FALSE(result.err.empty());
  }
  CHECK(server.num_calls() == 0);
}

TEST_CASE("Help is no error") {
  const ProgramResult result = RunProgram(kProgram, {"--help"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("lookup TABLE KEY..."));
  CHECK_THAT(result.out, Contains("--address=HOST:PORT"));
}

TEST_CASE("The version is no error") {
  const ProgramResult result = RunProgram(kProgram, {"--version"});
  CHECK(result.exit_code == 0);
  CHECK(result.out == std::string("gatherctl ") + kGatherdVersion + "\n");
}

TEST_CASE("Save says that it comes later") {
  FakeServer server;
  const ProgramResult result = Run(server, {"save", "words", "/tmp"});
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("later version"));
}

TEST_CASE("A token file's first line is the token") {
  FakeServer server;
  const std::string path = TemporaryPath("token");
  WriteFile(path, "s3cret\r\nanother\n");
  CHECK(Run(server, {"info", "--token-file=" + path}).exit_code == 0);
  CHECK(server.last_authorization() == "Bearer s3cret");
  WriteFile(path, "\n");
  CHECK(Run(server, {"info", "--token-file=" + path}).exit_code == 2);
}

TEST_CASE("Files are loaded in requests below the server's limit") {
  FakeServerOptions options;
  options.max_keys_per_request = 2;
  FakeServer server(options);
  const std::string rows = TemporaryPath("rows.npy");
  WriteFile(rows,
            NpyText<float>("<f4", "(5, 2)", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  const Json json = RunJson(server, {"load", "items", rows});
  CHECK(json["num_rows"] == 5);
  CHECK(json["num_requests"] == 3);
  CHECK(json["num_updated"] == 5);
  CHECK(server.update_sizes() == std::vector<int>{2, 2, 1});
  CHECK(server.GetTable("items").rows[4] == std::vector<float>{8, 9});

  const std::string wide = TemporaryPath("wide.npy");
  WriteFile(wide, NpyText<double>("<f8", "(2, 4)", {1, 2, 3, 4, 5, 6, 7, 8}));
  const std::string keys = TemporaryPath("keys.npy");
  WriteFile(keys, NpyText<int64_t>("<i8", "(2,)", {-1, 1}));
  const Json hashed =
      RunJson(server, {"load", "words", wide, "--keys=" + keys});
  CHECK(hashed["num_inserted"] == 2);
  CHECK(hashed.count("note") == 1);
  CHECK(server.GetTable("words").rows[-1] == std::vector<float>{1, 2, 3, 4});

  // A hashed table needs keys; rows must have the table's dim; a dense table
  // has no room for more rows than it has; the table must exist.
  CHECK(Run(server, {"load", "words", wide}).exit_code == 2);
  CHECK(Run(server, {"load", "items", wide}).exit_code == 1);
  const std::string many = TemporaryPath("many.npy");
  WriteFile(many, NpyText<float>("<f4", "(11, 2)", std::vector<float>(22)));
  CHECK(Run(server, {"load", "items", many}).exit_code == 1);
  CHECK(Run(server, {"load", "nowhere", rows}).exit_code == 1);
  const ProgramResult absent =
      Run(server, {"load", "items", "/nowhere/absent.npy"});
  CHECK(absent.exit_code == 1);
  CHECK_THAT(absent.err, Contains("/nowhere/absent.npy"));
}

}  // namespace gatherd::client
