#include "server/access/server_certificates.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "tests/server/access/temporary_folder.h"

namespace gatherd {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

// Writes NAME.pem and NAME.key: a certificate that signs itself.
void MakeIdentity(const TemporaryFolder& folder, const std::string& name,
                  const std::string& options = "-nodes") {
  const std::string command =
      "cd " + folder.path() +
      " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
      "-days 2 -subj /CN=" +
      name + " -out " + name + ".pem -keyout " + name + ".key " + options +
      " 2>/dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
}

TlsConfig ConfigOf(const TemporaryFolder& folder, const std::string& name,
                   const std::string& ca = "") {
  return {folder.PathOf(name + ".pem"), folder.PathOf(name + ".key"),
          ca.empty() ? "" : folder.PathOf(ca + ".pem")};
}

std::string WhyRefused(const TlsConfig& config) {
  const auto texts = ReadCertificates(config);
  CHECK(absl::IsInvalidArgument(texts.status()));
  return std::string(texts.status().message());
}

TEST_CASE("Files that fit each other are read", "[access]") {
  const TemporaryFolder folder;
  MakeIdentity(folder, "a");
  MakeIdentity(folder, "b");
  const auto texts = ReadCertificates(ConfigOf(folder, "a", "b"));
  INFO(texts.status());
  REQUIRE(texts.ok());
  CHECK(texts->certificate == folder.Read("a.pem"));
  CHECK(texts->key == folder.Read("a.key"));
  CHECK(texts->client_ca == folder.Read("b.pem"));
  CHECK(texts->valid_until - texts->valid_from == absl::Hours(48));
}

TEST_CASE("Files that are wrong are refused by name", "[access]") {
  const TemporaryFolder folder;
  MakeIdentity(folder, "a");
  MakeIdentity(folder, "b");
  MakeIdentity(folder, "locked", "-passout pass:x");
  TlsConfig config = ConfigOf(folder, "a");

  config.key = folder.PathOf("b.key");
  CHECK_THAT(
      WhyRefused(config),
      StartsWith(config.key + ": is not the key of " + config.certificate));
  config.key = folder.PathOf("a.pem");
  CHECK_THAT(WhyRefused(config),
             StartsWith(config.key + ": holds no PEM private key"));
  config.key = folder.PathOf("gone");
  CHECK(WhyRefused(config) == config.key + ": No such file or directory");
  CHECK_THAT(WhyRefused(ConfigOf(folder, "locked")),
             Contains("locked.key: holds no PEM private key that needs no "
                      "passphrase"));

  config = ConfigOf(folder, "a", "b");
  folder.Write("b.pem", "");
  CHECK(WhyRefused(config) == config.client_ca + ": holds no PEM certificate");
  const std::string whole = folder.Read("a.pem");
  folder.Write("a.pem", whole.substr(0, whole.size() / 2));
  CHECK_THAT(WhyRefused(ConfigOf(folder, "a")),
             StartsWith(config.certificate + ": a certificate cannot be read"));
  folder.Write("a.pem", whole + whole.substr(0, 200));
  CHECK_THAT(WhyRefused(ConfigOf(folder, "a")),
             StartsWith(config.certificate + ": a certificate cannot be read"));
}

TEST_CASE("Certificates are taken once, and again after a change", "[access]") {
  const TemporaryFolder folder;
  MakeIdentity(folder, "a");
  auto created = ServerCertificates::Create(ConfigOf(folder, "a"));
  REQUIRE(created.ok());
  ServerCertificates& certificates = **created;
  CHECK_FALSE(certificates.demands_client_certificates());
  const auto first = certificates.TakeNew();
  REQUIRE(first.has_value());
  CHECK_FALSE(certificates.TakeNew().has_value());

  folder.Write("a.key", "no key");
  certificates.ReadAgain();
  CHECK_FALSE(certificates.TakeNew().has_value());
  CHECK(certificates.is_stale());
  CHECK(certificates.valid_until() == first->valid_until);

  MakeIdentity(folder, "a");
  certificates.ReadAgain();
  const auto second = certificates.TakeNew();
  REQUIRE(second.has_value());
  CHECK(second->certificate != first->certificate);
  CHECK_FALSE(certificates.is_stale());
  CHECK(certificates.valid_until() == second->valid_until);
}

}  // namespace
}  // namespace gatherd
