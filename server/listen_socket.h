// Opens what a server listens on.
#ifndef GATHERD_SERVER_LISTEN_SOCKET_H_
#define GATHERD_SERVER_LISTEN_SOCKET_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/descriptor.h"

namespace gatherd {

// Sockets that listen and do not block, all of one address.
struct ListenSockets {
  std::vector<Descriptor> sockets;  // a name may stand for several
  std::string address;              // with the port that was picked for port 0
};

// `address` as in listen_address.h; 0.0.0.0 and [::] both mean every interface,
// of IPv4 and IPv6. SO_REUSEPORT stays off, so that no two servers share a port
// unawares. Replaces a Unix socket that nobody listens on. UNAVAILABLE naming
// the address and the reason if it cannot be had.
absl::StatusOr<ListenSockets> OpenListenSockets(const std::string& address);

// UNAVAILABLE, as OpenListenSockets says it.
absl::Status CannotListen(const std::string& address, std::string_view reason);

}  // namespace gatherd

#endif  // GATHERD_SERVER_LISTEN_SOCKET_H_
