#include "client/rendezvous.h"

#include <algorithm>

#include "core/base/fnv1a.h"

namespace gatherd::client {
namespace {

constexpr uint64_t Mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccd;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53;
  x ^= x >> 33;
  return x;
}

}  // namespace

Rendezvous::Rendezvous(absl::Span<const std::string> names) {
  for (size_t i = 0; i < names.size(); ++i) {
    servers_.push_back({Mix(static_cast<uint64_t>(Fnv1a64(names[i]))), i});
  }
  std::sort(servers_.begin(), servers_.end(),
            [names](const Server& a, const Server& b) {
              return names[a.index] < names[b.index];
            });
}

size_t Rendezvous::Owner(int64_t key) const {
  const auto bits = static_cast<uint64_t>(key);
  size_t owner = servers_[0].index;
  uint64_t highest = Mix(bits ^ servers_[0].seed);
  for (const Server& server : absl::MakeConstSpan(servers_).subspan(1)) {
    const uint64_t score = Mix(bits ^ server.seed);
    if (score > highest) {
      highest = score;
      owner = server.index;
    }
  }
  return owner;
}

}  // namespace gatherd::client
