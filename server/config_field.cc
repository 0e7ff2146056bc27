#include "server/config_field.h"

#include <algorithm>
#include <numeric>

namespace gatherd {
namespace {

std::string Joined(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) {
    out.append(out.empty() ? "" : ", ").append(word);
  }
  return out;
}

std::string Quoted(std::string_view word) {
  return "`" + std::string(word) + "`";
}

// Levenshtein's distance: characters to insert, drop or replace.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

absl::Status ConfigValue::Refuse() const {
  return node().position.Error(Quoted(entry.key) + " is " + node().Describe() +
                               "; allowed: " + std::string(allowed));
}

absl::Status ConfigValue::RefuseForNow() const {
  return entry.key_position.Error(
      Quoted(entry.key) +
      " is not supported by this version yet; leave it out");
}

absl::Status RefuseNoMap(const ConfigNode& node, std::string_view section,
                         const std::vector<std::string_view>& keys) {
  return node.position.Error(std::string(section) + " is " + node.Describe() +
                             "; allowed: a map with the keys " + Joined(keys));
}

absl::Status RefuseUnknownKey(const ConfigEntry& entry,
                              std::string_view section,
                              const std::vector<std::string_view>& keys) {
  const std::string_view nearest = NearestWord(entry.key, keys);
  ConfigNode shown;
  shown.kind = ConfigNode::Kind::kScalar;
  shown.text = entry.key;
  return entry.key_position.Error(
      "unknown key " + shown.Describe() + " of " + std::string(section) +
      (nearest.empty() ? "" : ", perhaps " + Quoted(nearest)) +
      "; allowed: " + Joined(keys));
}

absl::Status RefuseMissingKey(const ConfigNode& map, std::string_view section,
                              std::string_view key, std::string_view allowed) {
  return map.position.Error(std::string(section) + " lacks the key " +
                            Quoted(key) + "; allowed: " + std::string(allowed));
}

std::string_view NearestWord(std::string_view word,
                             const std::vector<std::string_view>& words) {
  constexpr size_t kLongestWord = 64;  // the distance costs a product
  std::string_view nearest;
  // A third of the letters may be wrong, else it is another word.
  size_t least = word.size() / 3 + 1;
  if (word.size() > kLongestWord) return nearest;
  for (const std::string_view candidate : words) {
    const size_t distance = EditDistance(word, candidate);
    if (distance > least || (distance == least && !nearest.empty())) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace gatherd
