#include "server/log.h"

#include <fcntl.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
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

// A pipe in the place of stderr, whose reader reads when it likes.
class PipedStderr {
 public:
  PipedStderr() : saved_(dup(STDERR_FILENO)) {
    REQUIRE(pipe2(ends_, O_CLOEXEC) == 0);
    dup2(ends_[1], STDERR_FILENO);
    close(ends_[1]);
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~PipedStderr() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    close(ends_[0]);
    SetUpLogging(LogConfig());
  }

  std::string Read() {
    std::string text(1 << 20, ' ');
    const ssize_t size = read(ends_[0], text.data(), text.size());
    text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
    return text;
  }

 private:
  int ends_[2];
  const int saved_;
};

TEST_CASE("A log that nobody reads holds up nobody", "[log]") {
  PipedStderr piped;
  SetUpLogging({LogLevel::kInfo, LogFormat::kJson});
  const absl::Time begin = absl::Now();
  // Far more than a pipe holds, in short and in long lines.
  const std::string text(10000, 'x');
  for (int i = 0; i < 1000; ++i) Log(LogLevel::kInfo, "l", {{"t", text}});
  for (int i = 0; i < 1000; ++i) Log(LogLevel::kInfo, "line");
  CHECK(absl::Now() - begin < absl::Seconds(20));

  std::string all;
  for (std::string read = piped.Read(); !read.empty(); read = piped.Read()) {
    all += read;
  }
  Log(LogLevel::kInfo, "back");
  all += piped.Read();
  int num_lines = 0;
  int num_cut = 0;
  nlohmann::json last;
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) {
    ++num_lines;
    if (!nlohmann::json::accept(line)) {
      ++num_cut;
    } else {
      last = nlohmann::json::parse(line);
    }
  }
  CHECK(last["message"] == "lines before this one were lost");
  CHECK(num_cut <= 1);
  // A line that was cut off is lost, too.
  CHECK(num_lines - 2 - num_cut + last["lines"].get<int>() == 2000);
}

TEST_CASE("A log that is closed or full holds up nobody", "[log]") {
  PipedStderr piped;
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(dup2(full, STDERR_FILENO) >= 0);
  close(full);
  Log(LogLevel::kInfo, "line");
  close(STDERR_FILENO);
  Log(LogLevel::kInfo, "line");
}

}  // namespace
}  // namespace gatherd
