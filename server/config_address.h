// Addresses to listen on, as the configuration writes them.
#ifndef GATHERD_SERVER_CONFIG_ADDRESS_H_
#define GATHERD_SERVER_CONFIG_ADDRESS_H_

#include <string_view>

namespace gatherd {

// `host:port`, `1.2.3.4:port` or `[ipv6]:port`; the port from 0 to 65535.
bool IsHostPort(std::string_view address);

// `unix:path`, the path short enough for a socket.
bool IsUnixAddress(std::string_view address);

inline constexpr std::string_view kUnixPrefix = "unix:";

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_ADDRESS_H_
