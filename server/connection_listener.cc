#include "server/connection_listener.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "server/log.h"

namespace gatherd {
namespace {

// How long to wait where not even the reserve helps.
constexpr absl::Duration kRetryInterval = absl::Milliseconds(10);
constexpr absl::Duration kWarningInterval = absl::Seconds(10);

int AcceptConnection(int socket) {
  return accept4(socket, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

// Reset since it was accepted, as some load balancers' probes do at once: gRPC
// would log each.
bool IsGone(const Descriptor& connection) {
  sockaddr_storage peer{};
  socklen_t size = sizeof(peer);
  return getpeername(connection.get(), reinterpret_cast<sockaddr*>(&peer),
                     &size) != 0;
}

Descriptor OpenReserve() {
  return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConnectionListener>> ConnectionListener::Listen(
    const std::string& address, Options options) {
  auto sockets = OpenListenSockets(address);
  if (!sockets.ok()) return sockets.status();
  if (options.accept == nullptr) options.accept = &AcceptConnection;
  std::unique_ptr<ConnectionListener> listener(
      new ConnectionListener(*std::move(sockets), std::move(options)));
  if (!listener->stop_.is_open()) {
    return CannotListen(address, "too few file descriptors");
  }
  return listener;
}

ConnectionListener::ConnectionListener(ListenSockets sockets, Options options)
    : address_(std::move(sockets.address)),
      sockets_(std::move(sockets.sockets)),
      options_(std::move(options)),
      stop_(eventfd(0, EFD_CLOEXEC)),
      reserve_(OpenReserve()) {}

void ConnectionListener::Start(OnConnection on_connection) {
  on_connection_ = std::move(on_connection);
  thread_ = std::thread([this] { Run(); });
}

void ConnectionListener::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  // An eventfd at 0 takes a 1.
  [[maybe_unused]] const ssize_t written =
      write(stop_.get(), &one, sizeof(one));
  thread_.join();
  sockets_.clear();
}

void ConnectionListener::Run() {
  std::vector<pollfd> polled = {{stop_.get(), POLLIN, 0}};
  for (const Descriptor& socket : sockets_) {
    polled.push_back({socket.get(), POLLIN, 0});
  }
  while (true) {
    if (poll(polled.data(), polled.size(), -1) < 0) continue;  // EINTR
    if (polled.front().revents != 0) return;
    for (size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents != 0) TakeConnection(polled[i].fd);
    }
  }
}

void ConnectionListener::TakeConnection(int socket) {
  Descriptor connection(options_.accept(socket));
  if (connection.is_open()) {
    if (IsSpared(connection.get())) {
      WarnOfRefusals(EMFILE);
    } else if (!IsGone(connection)) {
      on_connection_(connection.Release());
    }
    return;
  }
  switch (errno) {
    case EAGAIN:
    case ECONNABORTED:  // it ended while it waited
    case EINTR:
      return;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      RefuseConnection(socket, errno);
      return;
    default:
      absl::SleepFor(kRetryInterval);
  }
}

void ConnectionListener::RefuseConnection(int socket, int error) {
  WarnOfRefusals(error);
  reserve_.Close();
  Descriptor refused(options_.accept(socket));
  const bool is_refused = refused.is_open();
  refused.Close();
  reserve_ = OpenReserve();
  // Else the connection waits, and poll() says so at once.
  if (!is_refused) absl::SleepFor(kRetryInterval);
}

bool ConnectionListener::IsSpared(int fd) const {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  const uint64_t num_spared = std::min<uint64_t>(
      static_cast<uint64_t>(options_.spared_descriptors), limit.rlim_cur / 8);
  // The kernel gives the lowest number that is free.
  return static_cast<uint64_t>(fd) >= limit.rlim_cur - num_spared;
}

void ConnectionListener::WarnOfRefusals(int error) {
  const absl::Time now = absl::Now();
  if (now < next_warning_) return;
  next_warning_ = now + kWarningInterval;
  Log(LogLevel::kWarning, "connections are refused",
      {{"address", address()},
       {"reason", std::generic_category().message(error)}});
}

}  // namespace gatherd
