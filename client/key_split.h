// Keys of a request cut by owner.
#ifndef GATHERD_CLIENT_KEY_SPLIT_H_
#define GATHERD_CLIENT_KEY_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/rendezvous.h"

namespace gatherd::client {

// What one server owns. Keys stay in their order and in the field that they
// were given in.
struct KeyPart {
  std::vector<int64_t> keys;
  std::vector<uint32_t> keys32;
  std::vector<uint32_t> places;  // of the keys, among all
  // It has keys, or stands in for all where there are none: somebody has to
  // say what is wrong with the rest of the request.
  bool is_asked = false;
};

// A part for each server. INVALID_ARGUMENT, naming the table, if both kinds of
// keys are given, or 2^32 of them.
absl::StatusOr<std::vector<KeyPart>> SplitKeys(
    std::string_view table, absl::Span<const int64_t> keys,
    absl::Span<const uint32_t> keys32, const Rendezvous& owners,
    size_t num_servers);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_KEY_SPLIT_H_
