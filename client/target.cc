#include "client/target.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace gatherd::client {
namespace {

bool IsPort(absl::string_view text) {
  uint32_t port = 0;
  return absl::SimpleAtoi(text, &port) && port > 0 &&
         port <= std::numeric_limits<uint16_t>::max();
}

bool IsIpv4AndPort(absl::string_view text) {
  const size_t colon = text.rfind(':');
  in_addr parsed{};
  return colon != absl::string_view::npos && IsPort(text.substr(colon + 1)) &&
         inet_pton(AF_INET, std::string(text.substr(0, colon)).c_str(),
                   &parsed) == 1;
}

bool IsIpv6AndPort(absl::string_view text) {
  const size_t end = text.rfind("]:");
  in6_addr parsed{};
  return absl::ConsumePrefix(&text, "[") && end != absl::string_view::npos &&
         IsPort(text.substr(end + 1)) &&
         inet_pton(AF_INET6, std::string(text.substr(0, end - 1)).c_str(),
                   &parsed) == 1;
}

absl::StatusOr<Target> ParseList(absl::string_view list) {
  absl::ConsumePrefix(&list, "ipv4:") || absl::ConsumePrefix(&list, "ipv6:");
  const bool is_ipv6 = absl::StartsWith(list, "[");
  for (const absl::string_view part : absl::StrSplit(list, ',')) {
    if (is_ipv6 ? !IsIpv6AndPort(part) : !IsIpv4AndPort(part)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "address is a list with \"", part, "\" in it; a list is of IP:PORT, ",
          "all IPv4 or all IPv6, and a name of several servers is ",
          "dns:///NAME:PORT"));
    }
  }
  return Target{absl::StrCat(is_ipv6 ? "ipv6:" : "ipv4:", list), true};
}

}  // namespace

absl::StatusOr<Target> ParseAddress(const std::string& address) {
  if (address.empty()) return absl::InvalidArgumentError("address is empty");
  const bool is_socket = absl::StartsWith(address, "unix:");
  if (!is_socket && absl::StrContains(address, ',')) return ParseList(address);
  return Target{address, absl::StartsWith(address, "dns:")};
}

}  // namespace gatherd::client
