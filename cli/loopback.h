// Whether an address stays on this machine.
#ifndef GATHERD_CLI_LOOPBACK_H_
#define GATHERD_CLI_LOOPBACK_H_

#include <string_view>

namespace gatherd {

// Of a gRPC address to listen on or to call: HOST:PORT, [IPV6]:PORT, unix:PATH,
// each perhaps behind gRPC's dns:, ipv4: or ipv6:. True for Unix sockets,
// 127.0.0.0/8, ::1 and `localhost`; other names are not resolved, so that a
// doubt counts as an address that leaves the machine.
bool IsLoopbackAddress(std::string_view address);

}  // namespace gatherd

#endif  // GATHERD_CLI_LOOPBACK_H_
