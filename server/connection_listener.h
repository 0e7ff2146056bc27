// Listens on an address, for as long as the process serves.
#ifndef GATHERD_SERVER_CONNECTION_LISTENER_H_
#define GATHERD_SERVER_CONNECTION_LISTENER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/descriptor.h"
#include "server/listen_socket.h"

namespace gatherd {

// Accepts connections on a thread of its own and hands them on. The listeners
// of gRPC 1.51 and of httplib end with the first error of accept(), such as one
// moment without a free descriptor: nobody could connect to a server any more
// whose other port says that all is well. This one goes on after every error.
// Where no descriptor is to be had it closes connections at once, so that
// clients go elsewhere rather than wait.
class ConnectionListener {
 public:
  // A connection that does not block, and whose descriptor is then the
  // function's.
  using OnConnection = std::function<void(int fd)>;
  // accept4(), or a test's.
  using Accept = std::function<int(int socket)>;

  struct Options {
    // Of those that the process may have (RLIMIT_NOFILE), never more than an
    // eighth: where no others are left, connections are closed. For a port
    // whose clients may be many, so that probes of other ports are answered
    // and changed files are read.
    int spared_descriptors = 0;
    Accept accept;  // accept4() if empty
  };

  // Connections wait until Start. Errors of OpenListenSockets.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Listen(
      const std::string& address, Options options);

  ~ConnectionListener() { Stop(); }

  // With the port that was picked for port 0.
  const std::string& address() const { return address_; }

  // Once.
  void Start(OnConnection on_connection);

  // Refuses what waits and what comes. Returns once `on_connection` has.
  void Stop();

 private:
  ConnectionListener(ListenSockets sockets, Options options);

  void Run();
  void TakeConnection(int socket);
  void RefuseConnection(int socket, int error);
  bool IsSpared(int fd) const;
  void WarnOfRefusals(int error);

  const std::string address_;
  std::vector<Descriptor> sockets_;
  const Options options_;
  const Descriptor stop_;  // an eventfd
  OnConnection on_connection_;
  std::thread thread_;

  // The thread's.
  Descriptor reserve_;  // given up to accept, and close, one connection
  absl::Time next_warning_ = absl::InfinitePast();
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONNECTION_LISTENER_H_
