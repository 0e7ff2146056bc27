#include "client/key_split.h"

#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace gatherd::client {
namespace {

template <typename Key>
void Split(absl::Span<const Key> keys, const Rendezvous& owners,
           std::vector<Key> KeyPart::*keys_of_part,
           std::vector<KeyPart>& parts) {
  // A tenth more than an even share: parts rarely grow once more.
  const size_t share = keys.size() / parts.size() * 11 / 10 + 16;
  for (size_t i = 0; i < keys.size(); ++i) {
    KeyPart& part = parts[owners.Owner(int64_t{keys[i]})];
    if (!part.is_asked) {
      part.is_asked = true;
      (part.*keys_of_part).reserve(share);
      part.places.reserve(share);
    }
    (part.*keys_of_part).push_back(keys[i]);
    part.places.push_back(static_cast<uint32_t>(i));
  }
}

}  // namespace

absl::StatusOr<std::vector<KeyPart>> SplitKeys(
    std::string_view table, absl::Span<const int64_t> keys,
    absl::Span<const uint32_t> keys32, const Rendezvous& owners,
    size_t num_servers) {
  if (!keys.empty() && !keys32.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("table \"", std::string(table),
                     "\": keys and keys32 exclude each other"));
  }
  if (keys.size() + keys32.size() > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "table \"", std::string(table), "\": there are 2^32 keys or more"));
  }
  std::vector<KeyPart> parts(num_servers);
  Split(keys, owners, &KeyPart::keys, parts);
  Split(keys32, owners, &KeyPart::keys32, parts);
  if (keys.empty() && keys32.empty()) parts[0].is_asked = true;
  return parts;
}

}  // namespace gatherd::client
