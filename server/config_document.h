// A YAML document as a tree that remembers where everything stands. Of YAML it
// takes what a configuration needs: one document of maps, lists and scalars.
// Refused, with the position: anchors, aliases and tags; keys that are no
// scalars; keys given twice; a second document; text that is not UTF-8.
#ifndef GATHERD_SERVER_CONFIG_DOCUMENT_H_
#define GATHERD_SERVER_CONFIG_DOCUMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace gatherd {

// Line and column (in characters), both from 1; line 0 is no place in a file.
struct ConfigPosition {
  int line = 0;
  int column = 0;

  // INVALID_ARGUMENT "LINE:COLUMN: message"; without a place, the message.
  absl::Status Error(std::string_view message) const;
};

struct ConfigEntry;

struct ConfigNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  ConfigPosition position;
  std::string text;                  // scalar
  bool quoted = false;               // scalar: written in quotes
  std::vector<ConfigNode> items;     // list
  std::vector<ConfigEntry> entries;  // map, in order; keys are distinct

  // The value of `key`; nullptr if there is none.
  const ConfigNode* Find(std::string_view key) const;

  // For messages: "`text`", "a list", "a map", "empty".
  std::string Describe() const;
};

struct ConfigEntry {
  std::string key;
  ConfigPosition key_position;
  ConfigNode value;
};

// INVALID_ARGUMENT "LINE:COLUMN: what is wrong".
absl::StatusOr<ConfigNode> ParseConfigDocument(std::string_view text);

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_DOCUMENT_H_
