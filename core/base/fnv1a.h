// The 64-bit FNV-1a hash: the key that stands for a text, on every client and
// server. Source: Fowler, Noll, Vo; draft-eastlake-fnv.
#ifndef GATHERD_CORE_BASE_FNV1A_H_
#define GATHERD_CORE_BASE_FNV1A_H_

#include <cstdint>
#include <string_view>

namespace gatherd {

// The hash of the bytes of `text`, its 64 bits taken as a signed number, as
// keys are.
constexpr int64_t Fnv1a64(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return static_cast<int64_t>(hash);
}

}  // namespace gatherd

#endif  // GATHERD_CORE_BASE_FNV1A_H_
