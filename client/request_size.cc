#include "client/request_size.h"

#include <algorithm>
#include <cstdint>

namespace gatherd::client {
namespace {

// Enough that the round trip does not matter, and little enough that lookups
// are not held up.
constexpr uint64_t kMaxRequestBytes = 4 << 20;
// What a request has besides keys and values, generously.
constexpr uint64_t kOverheadBytes = 1024;

}  // namespace

size_t RowsPerRequest(const ServerInfo& server, size_t row_bytes) {
  const uint64_t limit = std::min(server.max_message_bytes, kMaxRequestBytes);
  const uint64_t room = limit > kOverheadBytes ? limit - kOverheadBytes : 0;
  const uint64_t fitting = room / (row_bytes + sizeof(int64_t));
  return static_cast<size_t>(
      std::max<uint64_t>(1, std::min(fitting, server.max_keys_per_request)));
}

}  // namespace gatherd::client
