// TLS and tokens as gatherctl's flags ask for them, against a server with
// certificates of its own.
#include <catch2/catch.hpp>

#include "tests/client/fake_server.h"
#include "tests/client/run_program.h"

namespace gatherd::client {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

struct Identity {
  std::string certificate_path;
  std::string key_path;
};

// A certificate for localhost that signs itself.
Identity MakeIdentity() {
  const Identity identity = {TemporaryPath("cert.pem"),
                             TemporaryPath("key.pem")};
  const ProgramResult result = RunProgram(
      "/usr/bin/openssl",
      {"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
       "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
       "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out",
       identity.certificate_path, "-keyout", identity.key_path});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return identity;
}

FakeServerOptions With(const Identity& identity) {
  FakeServerOptions options;
  options.certificate = ReadFile(identity.certificate_path);
  options.key = ReadFile(identity.key_path);
  return options;
}

ProgramResult Info(const FakeServer& server,
                   std::vector<std::string> arguments) {
  arguments.insert(arguments.end(),
                   {"--address=" + server.address(), "--timeout=3s", "info"});
  return RunProgram("client/gatherctl", arguments);
}

}  // namespace

TEST_CASE("TLS is spoken with whom --ca vouches for") {
  const Identity ours = MakeIdentity();
  const Identity other = MakeIdentity();
  const FakeServer server(With(ours));
  const std::string token_path = TemporaryPath("token");
  WriteFile(token_path, "s3cret\n");

  const ProgramResult trusted = Info(
      server, {"--ca=" + ours.certificate_path, "--token-file=" + token_path});
  INFO(trusted.err);
  CHECK(trusted.exit_code == 0);
  CHECK(server.last_authorization() == "Bearer s3cret");

  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--ca=" + other.certificate_path},
        std::vector<std::string>{}}) {
    const ProgramResult refused = Info(server, arguments);
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.err, StartsWith("UNAVAILABLE: ") ||
                                StartsWith("DEADLINE_EXCEEDED: "));
  }
}

TEST_CASE("--cert and --key say who the client is") {
  const Identity server_identity = MakeIdentity();
  const Identity client_identity = MakeIdentity();
  FakeServerOptions options = With(server_identity);
  options.client_ca = ReadFile(client_identity.certificate_path);
  const FakeServer server(options);
  const std::string ca = "--ca=" + server_identity.certificate_path;

  const ProgramResult known =
      Info(server, {ca, "--cert=" + client_identity.certificate_path,
                    "--key=" + client_identity.key_path});
  INFO(known.err);
  CHECK(known.exit_code == 0);
  CHECK(Info(server, {ca}).exit_code == 1);
  CHECK(Info(server, {ca, "--cert=" + server_identity.certificate_path,
                      "--key=" + server_identity.key_path})
            .exit_code == 1);
}

TEST_CASE("A token in the clear to another machine is warned of") {
  const std::string token_path = TemporaryPath("token");
  WriteFile(token_path, "s3cret\n");
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--timeout=100ms", "info"});
    return RunProgram("client/gatherctl", arguments).err;
  };
  const std::string token = "--token-file=" + token_path;
  // An address of documentation: nobody answers.
  const std::string elsewhere = "--address=192.0.2.1:7400";
  const std::string warned = run({elsewhere, token});
  CHECK_THAT(warned, StartsWith("gatherctl: warning: the token travels in the "
                                "clear to 192.0.2.1:7400, "));
  CHECK_THAT(warned, !Contains("s3cret"));

  const Identity identity = MakeIdentity();
  const FakeServer here;
  for (const std::vector<std::string>& fine :
       {std::vector<std::string>{elsewhere},
        {elsewhere, token, "--ca=" + identity.certificate_path},
        {"--address=" + here.address(), token}}) {
    CHECK_THAT(run(fine), !Contains("warning"));
  }
}

TEST_CASE("Files that are no PEM are bad usage") {
  const Identity identity = MakeIdentity();
  const FakeServer server(With(identity));
  const std::string path = TemporaryPath("text");
  WriteFile(path, "hello\n");
  CHECK(Info(server, {"--ca=" + path}).exit_code == 2);
}

}  // namespace gatherd::client
