#include "server/connection_listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/descriptor.h"

namespace gatherd {
namespace {

// A client's end; not open if nobody listens.
Descriptor Connect(const sockaddr* to, socklen_t size) {
  Descriptor made(socket(to->sa_family, SOCK_STREAM, 0));
  const timeval patience{10, 0};
  setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (connect(made.get(), to, size) != 0) made.Close();
  return made;
}

Descriptor ConnectTo(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(
      std::atoi(address.substr(address.rfind(':') + 1).c_str())));
  return Connect(reinterpret_cast<sockaddr*>(&to), sizeof(to));
}

// Tells each connection that it was taken, if anybody is there.
void Greet(int fd) {
  send(fd, "!", 1, MSG_NOSIGNAL);
  close(fd);
}

std::unique_ptr<ConnectionListener> Serve(
    const std::string& address, ConnectionListener::Options options = {}) {
  auto listener = ConnectionListener::Listen(address, std::move(options));
  INFO(listener.status());
  REQUIRE(listener.ok());
  (*listener)->Start(&Greet);
  return *std::move(listener);
}

// Whether it was taken, rather than closed.
bool IsTaken(const Descriptor& connection) {
  char byte;
  return recv(connection.get(), &byte, 1, 0) == 1;
}

bool IsServed(const std::string& address) {
  return IsTaken(ConnectTo(address));
}

// Where a Unix socket may be, and nothing is yet.
class UnixPlace {
 public:
  UnixPlace() {
    REQUIRE(mkdtemp(folder_) != nullptr);
    name_.sun_family = AF_UNIX;
    const std::string path = absl::StrCat(folder_, "/socket");
    std::copy(path.begin(), path.end(), name_.sun_path);
  }
  ~UnixPlace() {
    unlink(path());
    rmdir(folder_);
  }

  const char* path() const { return name_.sun_path; }
  std::string address() const { return absl::StrCat("unix:", path()); }
  const sockaddr* name() const {
    return reinterpret_cast<const sockaddr*>(&name_);
  }
  static constexpr socklen_t kNameSize = sizeof(sockaddr_un);

 private:
  char folder_[32] = "/tmp/gatherd_test_XXXXXX";
  sockaddr_un name_{};
};

class DescriptorLimit {
 public:
  // How many are left.
  explicit DescriptorLimit(int num_free) {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &old_) == 0);
    std::vector<Descriptor> lowest;  // numbers that are free
    for (int i = 0; i < num_free; ++i) lowest.emplace_back(dup(0));
    rlimit limit = old_;
    limit.rlim_cur = static_cast<rlim_t>(lowest.back().get() + 1);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &old_); }

 private:
  rlimit old_;
};

TEST_CASE("a listener outlives every error of accept") {
  std::atomic<int> error = 0;
  ConnectionListener::Options options;
  options.accept = [&](int socket) {
    errno = error.exchange(0);
    return errno != 0 ? -1 : accept(socket, nullptr, nullptr);
  };
  const auto listener = Serve("127.0.0.1:0", std::move(options));
  for (const int each : {EAGAIN, EINTR, ECONNABORTED, EPROTO, EPERM, ENETDOWN,
                         EHOSTUNREACH, ENOPROTOOPT, EOPNOTSUPP, ETIMEDOUT}) {
    error = each;
    INFO(each);
    CHECK(IsServed(listener->address()));
  }
  for (const int each : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) {
    error = each;
    INFO(each);
    CHECK_FALSE(IsServed(listener->address()));  // closed at once
    CHECK(IsServed(listener->address()));
  }
}

TEST_CASE("connections without a descriptor are closed at once") {
  const auto listener = Serve("127.0.0.1:0");
  {
    const DescriptorLimit limit(1);
    // The client's own takes the only one.
    CHECK_FALSE(IsServed(listener->address()));
    CHECK_FALSE(IsServed(listener->address()));
  }
  CHECK(IsServed(listener->address()));
}

TEST_CASE("descriptors are spared for others") {
  ConnectionListener::Options options;
  options.spared_descriptors = 1;
  const auto sparing = Serve("127.0.0.1:0", std::move(options));
  const auto other = Serve("127.0.0.1:0");
  {
    const DescriptorLimit limit(2);
    CHECK_FALSE(IsServed(sparing->address()));
    CHECK(IsServed(other->address()));
  }
  CHECK(IsServed(sparing->address()));
}

TEST_CASE("a listener listens on all that its address means") {
  for (const char* address :
       {"127.0.0.1:0", "0.0.0.0:0", "[::]:0", "localhost:0"}) {
    const auto listener = Serve(address);
    INFO(listener->address());
    CHECK(IsServed(listener->address()));
  }
}

TEST_CASE("a connection that was reset is handed to nobody") {
  auto listener = *ConnectionListener::Listen("127.0.0.1:0", {});
  {
    const Descriptor resets = ConnectTo(listener->address());
    const linger at_once{1, 0};
    setsockopt(resets.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  std::atomic<int> num_taken = 0;
  listener->Start([&](int fd) {
    ++num_taken;
    Greet(fd);
  });
  CHECK(IsServed(listener->address()));
  CHECK(num_taken == 1);
}

TEST_CASE("an address has one listener") {
  const auto first = Serve("127.0.0.1:0");
  for (const std::string& address :
       {first->address(),
        absl::StrCat("0.0.0.0",
                     first->address().substr(first->address().rfind(':')))}) {
    const auto second = ConnectionListener::Listen(address, {});
    CHECK(absl::IsUnavailable(second.status()));
    CHECK(absl::StrContains(std::string(second.status().message()),
                            absl::StrCat("cannot listen on ", address, ": ")));
  }
}

TEST_CASE("a Unix socket is replaced only if nobody listens on it") {
  const UnixPlace place;
  const std::string address = place.address();
  const auto is_served = [&] {
    return IsTaken(Connect(place.name(), UnixPlace::kNameSize));
  };
  {
    const auto first = Serve(address);
    CHECK(first->address() == address);
    CHECK(is_served());
    CHECK(
        absl::IsUnavailable(ConnectionListener::Listen(address, {}).status()));
    CHECK(is_served());
  }
  const auto next = Serve(address);  // the file is still there
  CHECK(is_served());
}

TEST_CASE("nothing but a Unix socket that nobody has is replaced") {
  const UnixPlace place;
  struct stat info {};
  SECTION("a file") {
    close(creat(place.path(), S_IRUSR));
    CHECK_FALSE(ConnectionListener::Listen(place.address(), {}).ok());
    CHECK(stat(place.path(), &info) == 0);
    CHECK(S_ISREG(info.st_mode));
  }
  SECTION("somebody's socket of another kind") {
    const Descriptor other(socket(AF_UNIX, SOCK_DGRAM, 0));
    REQUIRE(bind(other.get(), place.name(), UnixPlace::kNameSize) == 0);
    CHECK_FALSE(ConnectionListener::Listen(place.address(), {}).ok());
    CHECK(stat(place.path(), &info) == 0);
  }
}

TEST_CASE("a listener that stopped refuses who comes") {
  const auto listener = Serve("127.0.0.1:0");
  listener->Stop();
  CHECK_FALSE(ConnectTo(listener->address()).is_open());
}

}  // namespace
}  // namespace gatherd
