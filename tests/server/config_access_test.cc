// The sections server.tls and server.auth, and the files that they name.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "server/config.h"

namespace gatherd {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder()
      : path_(fs::temp_directory_path() /
              ("gatherd_config_access_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  const fs::path path_;
};

std::string WhyRefused(const std::string& server) {
  return std::string(
      ParseConfig("server:\n  " + server + "\ntables: []", "c.yaml")
          .status()
          .message());
}

TEST_CASE("Refused: tls", "[config]") {
  const std::string keys = "certificate, key, client_ca";
  CHECK(WhyRefused("tls: {certificates: c}") ==
        "c.yaml:2:9: unknown key `certificates` of server.tls, perhaps "
        "`certificate`; allowed: " +
            keys);
  CHECK(WhyRefused("tls: {certificate: c}") ==
        "c.yaml:2:8: server.tls lacks the key `key`; allowed: the path of a "
        "PEM file of a private key");
  CHECK(WhyRefused("tls: {key: k}") ==
        "c.yaml:2:8: server.tls lacks the key `certificate`; allowed: the path "
        "of a PEM file of certificates");
  CHECK(WhyRefused("tls: {certificate: '', key: k}") ==
        "c.yaml:2:22: `certificate` is ``; allowed: the path of a PEM file of "
        "certificates");
  CHECK(WhyRefused("tls: {certificate: c, key: [k]}") ==
        "c.yaml:2:30: `key` is a list; allowed: the path of a PEM file of a "
        "private key");
  CHECK(WhyRefused("tls: true") ==
        "c.yaml:2:8: server.tls is `true`; allowed: a map with the keys " +
            keys);
}

TEST_CASE("Refused: auth", "[config]") {
  CHECK(WhyRefused("auth: {}") ==
        "c.yaml:2:9: server.auth is empty; allowed: read_tokens_file, "
        "write_tokens_file or both");
  CHECK(WhyRefused("auth: {tokens_file: t}") ==
        "c.yaml:2:10: unknown key `tokens_file` of server.auth; "
        "allowed: read_tokens_file, write_tokens_file");
  CHECK(WhyRefused("auth: {read_tokens_file: ''}") ==
        "c.yaml:2:28: `read_tokens_file` is ``; allowed: the path of a file "
        "with one token a line");
  CHECK(WhyRefused("auth: secret") ==
        "c.yaml:2:9: server.auth is `secret`; allowed: a map with the keys "
        "read_tokens_file, write_tokens_file");
}

TEST_CASE("Files that the configuration names must be there", "[config]") {
  const Folder folder;
  folder.Write("there", "");
  const auto load = [&folder](const std::string& server) {
    const std::string path =
        folder.Write("c.yaml", "server:\n  " + server + "\ntables: []\n");
    return LoadConfig(path).status();
  };
  CHECK(load("tls: {certificate: there, key: there}").ok());
  CHECK(load("auth: {write_tokens_file: there}").ok());

  const std::string file = folder.path() + "/c.yaml";
  CHECK(load("tls: {certificate: there, key: gone}").message() ==
        file + ":2:34: `key` is `" + folder.path() +
            "/gone`, which cannot be read: No such file or directory; allowed: "
            "the path of a file that is there");
  CHECK(load("auth: {read_tokens_file: .}").message() ==
        file + ":2:28: `read_tokens_file` is `" + folder.path() +
            "/`, which is not a file; allowed: the path of a file that is "
            "there");
}

TEST_CASE(
    "What is left out of tls and auth is left out of the effective "
    "configuration",
    "[config]") {
  const auto yaml_of = [](const std::string& server) {
    const auto config =
        ParseConfig("server: {" + server + "}\ntables: []", "/c.yaml");
    INFO(config.status());
    REQUIRE(config.ok());
    return ConfigToYaml(*config);
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  const std::string none = yaml_of("");
  CHECK_FALSE(contains(none, "tls"));
  CHECK_FALSE(contains(none, "auth"));
  CHECK(contains(yaml_of("tls: {certificate: c, key: k}"),
                 "  tls: {certificate: \"/c\", key: \"/k\"}\n"));
  CHECK(contains(yaml_of("auth: {write_tokens_file: w}"),
                 "  auth: {write_tokens_file: \"/w\"}\n"));
}

}  // namespace
}  // namespace gatherd
