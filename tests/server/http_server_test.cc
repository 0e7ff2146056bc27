#include "server/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace gatherd {
namespace {

constexpr absl::string_view kRequest = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr absl::string_view kHalfRequest = "GET /livez HTTP/1.1\r\nHost:";

// A client's end of a connection to the server.
class Connection {
 public:
  explicit Connection(const HttpServer& server)
      : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string& address = server.address();
    to.sin_port = htons(static_cast<uint16_t>(
        std::atoi(address.substr(address.rfind(':') + 1).c_str())));
    CHECK(connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) == 0);
  }
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  Connection(Connection&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  bool Send(absl::string_view bytes) {
    return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // All until the server closes.
  std::string Receive() {
    std::string bytes;
    char buffer[4096];
    ssize_t size;
    while ((size = recv(fd_, buffer, sizeof(buffer), 0)) > 0) {
      bytes.append(buffer, static_cast<size_t>(size));
    }
    return bytes;
  }

 private:
  int fd_;
};

class HttpServerTest {
 public:
  HttpServerTest() {
    HttpPages pages;
    pages["/livez"] = [] {
      HttpPage page;
      page.content_type = "text/plain";
      page.body = "ok\n";
      return page;
    };
    pages["/large"] = [] {
      HttpPage page;
      page.content_type = "text/plain";
      page.body.assign(64 << 20, 'x');
      return page;
    };
    server_ = *HttpServer::Listen("127.0.0.1:0", std::move(pages));
  }

  // Connections that stay, each of which has said `bytes`.
  void Open(int num_connections, absl::string_view bytes) {
    for (int i = 0; i < num_connections; ++i) {
      open_.emplace_back(*server_);
      CHECK(open_.back().Send(bytes));
    }
  }

  void ExpectPromptAnswer() {
    const absl::Time begin = absl::Now();
    Connection probe(*server_);
    CHECK(probe.Send(kRequest));
    CHECK(absl::StartsWith(probe.Receive(), "HTTP/1.1 200 "));
    CHECK(absl::Now() - begin < absl::Seconds(1));
  }

  std::unique_ptr<HttpServer> server_;
  std::vector<Connection> open_;
};

TEST_CASE_METHOD(HttpServerTest,
                 "an HTTP connection is closed after its answer") {
  Connection connection(*server_);
  REQUIRE(connection.Send(kRequest));
  const absl::Time begin = absl::Now();
  CHECK(absl::StrContains(connection.Receive(), "Connection: close"));
  CHECK(absl::Now() - begin < absl::Seconds(1));
}

TEST_CASE_METHOD(HttpServerTest, "half requests delay no probe") {
  Open(100, kHalfRequest);
  ExpectPromptAnswer();
}

TEST_CASE_METHOD(HttpServerTest,
                 "clients that keep their connection delay no probe") {
  Open(80, kRequest);
  ExpectPromptAnswer();
}

TEST_CASE_METHOD(HttpServerTest,
                 "connections beyond the bound delay no probe") {
  // Both ends of each are files of this process.
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  Open(1100, "");
  ExpectPromptAnswer();
  // The first one was ended before its time.
  CHECK_FALSE(absl::StartsWith(open_.front().Receive(), "HTTP/1.1 200 "));
}

TEST_CASE_METHOD(HttpServerTest, "a request that comes byte by byte is ended") {
  const absl::Time begin = absl::Now();
  Connection connection(*server_);
  REQUIRE(connection.Send(kHalfRequest));
  while (connection.Send("a") && absl::Now() - begin < absl::Seconds(20)) {
    absl::SleepFor(absl::Milliseconds(50));
  }
  CHECK(absl::Now() - begin > absl::Milliseconds(1500));
  CHECK(absl::Now() - begin < absl::Seconds(10));
}

TEST_CASE_METHOD(HttpServerTest,
                 "an HTTP server stops while connections are open") {
  Open(100, kHalfRequest);
  Open(1, "GET /large HTTP/1.1\r\n\r\n");  // and nobody reads the answer
  ExpectPromptAnswer();
  const absl::Time begin = absl::Now();
  server_.reset();
  CHECK(absl::Now() - begin < absl::Seconds(1));
}

TEST_CASE_METHOD(HttpServerTest, "a large page is answered whole") {
  Connection connection(*server_);
  REQUIRE(connection.Send("GET /large HTTP/1.1\r\n\r\n"));
  CHECK(connection.Receive().size() > size_t{64} << 20);
}

}  // namespace
}  // namespace gatherd
