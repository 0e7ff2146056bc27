#include "server/log.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <limits>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "nlohmann/json.hpp"

namespace gatherd {
namespace {

// Sends stderr to a file while it lives.
class CapturedStderr {
 public:
  CapturedStderr() : file_(std::tmpfile()), saved_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~CapturedStderr() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    std::fclose(file_);
    SetUpLogging(LogConfig());
  }

  std::vector<std::string> Lines() {
    std::rewind(file_);
    std::vector<std::string> lines;
    std::string line;
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) {
      if (c != '\n') {
        line += static_cast<char>(c);
        continue;
      }
      lines.push_back(line);
      line.clear();
    }
    if (!line.empty()) lines.push_back("unfinished: " + line);
    return lines;
  }

 private:
  std::FILE* const file_;
  const int saved_;
};

TEST_CASE("A text line has time, level, message and fields", "[log]") {
  CapturedStderr captured;
  SetUpLogging({LogLevel::kInfo, LogFormat::kText});
  Log(LogLevel::kInfo, "table loaded",
      {{"table", "words"}, {"rows", 20000}, {"seconds", 0.25}, {"last", true}});
  Log(LogLevel::kWarning, "it is \"odd\"", {{"why", "two words"}, {"e", ""}});

  const std::vector<std::string> lines = captured.Lines();
  REQUIRE(lines.size() == 2);
  const std::regex stamped(
      R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z \[(\w+)\] (.*))");
  std::smatch match;
  REQUIRE(std::regex_match(lines[0], match, stamped));
  CHECK(match[1] == "info");
  CHECK(match[2] ==
        "table loaded table=words rows=20000 seconds=0.25 "
        "last=true");
  REQUIRE(std::regex_match(lines[1], match, stamped));
  CHECK(match[1] == "warning");
  CHECK(match[2] == R"(it is "odd" why="two words" e="")");
}

TEST_CASE("A JSON line is one object with typed fields", "[log]") {
  CapturedStderr captured;
  SetUpLogging({LogLevel::kDebug, LogFormat::kJson});
  Log(LogLevel::kDebug, "a", {{"n", int64_t{-5}}, {"x", 1.5}, {"b", false}});
  Log(LogLevel::kError, "b",
      {{"big", std::numeric_limits<uint64_t>::max()},
       {"inf", std::numeric_limits<double>::infinity()},
       {"text", "7"}});

  const std::vector<std::string> lines = captured.Lines();
  REQUIRE(lines.size() == 2);
  const nlohmann::json first = nlohmann::json::parse(lines[0]);
  CHECK(first["level"] == "debug");
  CHECK(first["message"] == "a");
  CHECK(first["n"] == -5);
  CHECK(first["x"] == 1.5);
  CHECK(first["b"] == false);
  CHECK(std::regex_match(
      first["time"].get<std::string>(),
      std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)")));
  const nlohmann::json second = nlohmann::json::parse(lines[1]);
  CHECK(second["level"] == "error");
  CHECK(second["big"] == std::numeric_limits<uint64_t>::max());
  CHECK(second["inf"] == "inf");
  CHECK(second["text"] == "7");
}

TEST_CASE("Text from outside breaks neither line nor object", "[log]") {
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::string greek = "\xCE\xB1\xF0\x9F\x98\x80";
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    CapturedStderr captured;
    SetUpLogging({LogLevel::kInfo, format});
    Log(LogLevel::kInfo, every_byte, {{"value", every_byte}});
    Log(LogLevel::kInfo, greek, {{"value", greek}});
    const std::vector<std::string> lines = captured.Lines();
    REQUIRE(lines.size() == 2);
    CHECK(lines[1].find(greek) != std::string::npos);
    if (format != LogFormat::kJson) continue;
    const std::string value = nlohmann::json::parse(lines[0])["value"];
    CHECK(value.substr(0, 128) == every_byte.substr(0, 128));
    CHECK(nlohmann::json::parse(lines[1])["message"] == greek);
  }
}

TEST_CASE("Levels below the configured one are dropped", "[log]") {
  CapturedStderr captured;
  SetUpLogging({LogLevel::kWarning, LogFormat::kText});
  Log(LogLevel::kDebug, "no");
  Log(LogLevel::kInfo, "no");
  Log(LogLevel::kWarning, "yes");
  Log(LogLevel::kError, "yes");
  CHECK(captured.Lines().size() == 2);
}

TEST_CASE("What scripts wait for is announced at every level", "[log]") {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    CapturedStderr captured;
    SetUpLogging({LogLevel::kError, format});
    Announce("listening on 127.0.0.1:7400");
    const std::vector<std::string> lines = captured.Lines();
    REQUIRE(lines.size() == 1);
    if (format == LogFormat::kJson) {
      CHECK(nlohmann::json::parse(lines[0])["message"] ==
            "listening on 127.0.0.1:7400");
    } else {
      CHECK(std::regex_search(lines[0],
                              std::regex("listening on 127.0.0.1:7400$")));
    }
  }
}

TEST_CASE("Lines of many threads stay whole", "[log]") {
  CapturedStderr captured;
  SetUpLogging({LogLevel::kInfo, LogFormat::kJson});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) {
        Log(LogLevel::kInfo, "line", {{"thread", t}, {"i", i}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = captured.Lines();
  CHECK(lines.size() == 800);
  for (const std::string& line : lines) {
    CHECK(nlohmann::json::accept(line));
  }
}

}  // namespace
}  // namespace gatherd
