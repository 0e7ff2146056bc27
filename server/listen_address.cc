#include "server/listen_address.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace gatherd {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

}  // namespace

absl::StatusOr<HostPort> ParseHostPort(std::string_view address) {
  const size_t colon = address.rfind(':');
  HostPort result;
  if (colon != std::string_view::npos) {
    result.host = std::string(address.substr(0, colon));
    const std::string port(address.substr(colon + 1));
    if (absl::SimpleAtoi(port, &result.port) && result.port >= 0 &&
        result.port <= 65535) {
      if (result.host.size() > 1 && result.host.front() == '[' &&
          result.host.back() == ']') {
        result.host = result.host.substr(1, result.host.size() - 2);
      }
      return result;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", std::string(address), "\" is no HOST:PORT"));
}

std::string WithPort(std::string_view address, int port) {
  if (!UnixSocketPath(address).empty()) return std::string(address);
  return absl::StrCat(std::string(address.substr(0, address.rfind(':'))), ":",
                      port);
}

std::string_view UnixSocketPath(std::string_view address) {
  if (address.substr(0, kUnixPrefix.size()) != kUnixPrefix) return {};
  return address.substr(kUnixPrefix.size());
}

}  // namespace gatherd
