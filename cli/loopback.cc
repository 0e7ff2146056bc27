#include "cli/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace gatherd {
namespace {

// Longer ones first: the first that fits is cut off.
constexpr std::array<const char*, 4> kSchemes = {"dns:///",
                                                 "dns:", "ipv4:", "ipv6:"};

std::string HostOf(absl::string_view address) {
  for (const char* scheme : kSchemes) {
    if (absl::ConsumePrefix(&address, scheme)) break;
  }
  if (absl::ConsumePrefix(&address, "[")) {
    return std::string(address.substr(0, address.find(']')));
  }
  return std::string(address.substr(0, address.rfind(':')));
}

bool IsIpv4Loopback(const std::string& host) {
  in_addr parsed{};
  if (inet_pton(AF_INET, host.c_str(), &parsed) != 1) return false;
  return (ntohl(parsed.s_addr) >> 24) == 127;
}

bool IsIpv6Loopback(const std::string& host) {
  in6_addr parsed{};
  if (inet_pton(AF_INET6, host.c_str(), &parsed) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&parsed);
}

}  // namespace

bool IsLoopbackAddress(std::string_view address) {
  const absl::string_view text(address.data(), address.size());
  if (absl::StartsWith(text, "unix:") ||
      absl::StartsWith(text, "unix-abstract:")) {
    return true;
  }
  const std::string host = HostOf(text);
  return absl::EqualsIgnoreCase(host, "localhost") || IsIpv4Loopback(host) ||
         IsIpv6Loopback(host);
}

}  // namespace gatherd
