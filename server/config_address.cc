#include "server/config_address.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <string>

namespace gatherd {
namespace {

constexpr char kDigits[] = "0123456789";
constexpr char kHostCharacters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
constexpr size_t kMaxHostBytes = 253;  // RFC 1035
constexpr size_t kMaxSocketPathBytes = sizeof(sockaddr_un::sun_path) - 1;

bool HasOnly(std::string_view text, std::string_view characters) {
  return !text.empty() &&
         text.find_first_not_of(characters) == std::string_view::npos;
}

bool IsPort(std::string_view text) {
  if (!HasOnly(text, kDigits) || text.size() > 5) return false;
  int port = 0;
  for (const char digit : text) port = port * 10 + (digit - '0');
  return port <= 65535;
}

bool IsIpv6(std::string_view text) {
  in6_addr parsed;
  const std::string address(text.substr(0, text.find('%')));  // the interface
  return inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

bool IsHostName(std::string_view text) {
  if (!HasOnly(text, kHostCharacters) || text.size() > kMaxHostBytes) {
    return false;
  }
  // Four numbers are meant to be an address, so they must be one.
  in_addr parsed;
  return !HasOnly(text, "0123456789.") ||
         inet_pton(AF_INET, std::string(text).c_str(), &parsed) == 1;
}

}  // namespace

bool IsHostPort(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view host = address.substr(0, colon);
  if (!IsPort(address.substr(colon + 1))) return false;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return IsIpv6(host.substr(1, host.size() - 2));
  }
  return IsHostName(host);
}

bool IsUnixAddress(std::string_view address) {
  if (address.substr(0, kUnixPrefix.size()) != kUnixPrefix) return false;
  const std::string_view path = address.substr(kUnixPrefix.size());
  return !path.empty() && path.size() <= kMaxSocketPathBytes &&
         path.find('\0') == std::string_view::npos;
}

}  // namespace gatherd
