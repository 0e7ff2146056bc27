#include "server/listen_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/listen_address.h"

namespace gatherd {
namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

// Data that a peer does not acknowledge for so long ends its connection.
constexpr int kUserTimeoutMs = 20'000;

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

std::string ErrorText(int error) {
  return std::generic_category().message(error);
}

// Leaves errno alone if there is no socket.
void SetOption(const Descriptor& socket, int level, int name, int value) {
  if (!socket.is_open()) return;
  setsockopt(socket.get(), level, name, &value, sizeof(value));
}

// Connections inherit TCP's options from what they were accepted on.
Descriptor MakeTcpSocket(int family) {
  Descriptor made(socket(family, kSocketFlags, 0));
  SetOption(made, SOL_SOCKET, SO_REUSEADDR, 1);
  SetOption(made, IPPROTO_TCP, TCP_NODELAY, 1);
  SetOption(made, IPPROTO_TCP, TCP_USER_TIMEOUT, kUserTimeoutMs);
  return made;
}

// 0, or what is wrong.
int BindAndListen(const Descriptor& socket, const sockaddr* to,
                  socklen_t size) {
  if (!socket.is_open()) return errno;
  if (bind(socket.get(), to, size) != 0) return errno;
  return listen(socket.get(), SOMAXCONN) == 0 ? 0 : errno;
}

void SetPort(sockaddr* address, int port) {
  const auto in_network_order = htons(static_cast<uint16_t>(port));
  if (address->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = in_network_order;
  } else {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = in_network_order;
  }
}

int PortOf(const Descriptor& socket) {
  sockaddr_in6 name{};
  socklen_t size = sizeof(name);
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size);
  // At the same place for IPv4.
  return ntohs(name.sin6_port);
}

// Every interface; none if this machine has no IPv6.
Descriptor ListenEverywhere(int port, int* error) {
  Descriptor made = MakeTcpSocket(AF_INET6);
  SetOption(made, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_port = htons(static_cast<uint16_t>(port));
  *error =
      BindAndListen(made, reinterpret_cast<const sockaddr*>(&any), sizeof(any));
  return *error == 0 ? std::move(made) : Descriptor();
}

// That this machine lacks one of a name's addresses is no reason to refuse
// the others.
bool IsNotOfThisMachine(int error) {
  return error == EADDRNOTAVAIL || error == EAFNOSUPPORT;
}

bool IsSame(const addrinfo& a, const addrinfo& b) {
  return a.ai_addrlen == b.ai_addrlen &&
         std::memcmp(a.ai_addr, b.ai_addr, a.ai_addrlen) == 0;
}

// Files of hosts often name an address twice.
bool IsFirstOfItsKind(const addrinfo& list, const addrinfo& each) {
  const addrinfo* first = &list;
  while (!IsSame(*first, each)) first = first->ai_next;
  return first == &each;
}

absl::StatusOr<AddressList> Resolve(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  int failure = getaddrinfo(host.c_str(), nullptr, &wanted, &found);
  if (failure != 0 && host == "localhost") {  // where no file of hosts has it
    failure = getaddrinfo("127.0.0.1", nullptr, &wanted, &found);
  }
  if (failure != 0) return absl::UnavailableError(gai_strerror(failure));
  return AddressList(found, &freeaddrinfo);
}

absl::StatusOr<ListenSockets> ListenOnTcp(const std::string& address) {
  auto where = ParseHostPort(address);
  if (!where.ok()) return where.status();
  int port = where->port;
  ListenSockets result;
  int error = 0;
  if (where->host == "0.0.0.0" || where->host == "::") {
    where->host = "0.0.0.0";  // on a machine without IPv6
    Descriptor everywhere = ListenEverywhere(port, &error);
    if (everywhere.is_open()) {
      result.address = WithPort(address, PortOf(everywhere));
      result.sockets.push_back(std::move(everywhere));
      return result;
    }
    if (!IsNotOfThisMachine(error)) {
      return CannotListen(address, ErrorText(error));
    }
  }

  const auto list = Resolve(where->host);
  if (!list.ok()) {
    return CannotListen(address, std::string(list.status().message()));
  }
  std::vector<const addrinfo*> wanted;
  for (const addrinfo* each = list->get(); each != nullptr;
       each = each->ai_next) {
    if (IsFirstOfItsKind(**list, *each)) wanted.push_back(each);
  }
  for (const addrinfo* each : wanted) {
    SetPort(each->ai_addr, port);
    Descriptor socket = MakeTcpSocket(each->ai_family);
    error = BindAndListen(socket, each->ai_addr, each->ai_addrlen);
    if (IsNotOfThisMachine(error)) continue;
    if (error != 0) return CannotListen(address, ErrorText(error));
    port = PortOf(socket);
    result.sockets.push_back(std::move(socket));
  }
  if (result.sockets.empty()) return CannotListen(address, ErrorText(error));
  result.address = WithPort(address, port);
  return result;
}

absl::StatusOr<ListenSockets> ListenOnUnix(const std::string& address,
                                           const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof(name.sun_path)) {
    return CannotListen(address, ErrorText(ENAMETOOLONG));
  }
  std::copy(path.begin(), path.end(), name.sun_path);
  const auto* to = reinterpret_cast<const sockaddr*>(&name);
  const Descriptor caller(::socket(AF_UNIX, kSocketFlags, 0));
  if (!caller.is_open()) return CannotListen(address, ErrorText(errno));
  const bool is_left_behind =  // by a server that was killed
      connect(caller.get(), to, sizeof(name)) != 0 && errno == ECONNREFUSED;
  struct stat info {};
  if (is_left_behind && stat(path.c_str(), &info) == 0 &&
      S_ISSOCK(info.st_mode)) {
    unlink(path.c_str());
  }
  Descriptor socket(::socket(AF_UNIX, kSocketFlags, 0));
  const int error = BindAndListen(socket, to, sizeof(name));
  if (error != 0) return CannotListen(address, ErrorText(error));
  ListenSockets result;
  result.address = address;
  result.sockets.push_back(std::move(socket));
  return result;
}

}  // namespace

absl::Status CannotListen(const std::string& address, std::string_view reason) {
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address, ": ", std::string(reason)));
}

absl::StatusOr<ListenSockets> OpenListenSockets(const std::string& address) {
  const std::string_view path = UnixSocketPath(address);
  if (!path.empty()) return ListenOnUnix(address, std::string(path));
  return ListenOnTcp(address);
}

}  // namespace gatherd
