// A section of the configuration as a list of fields: the one place where a
// key, what it allows, how it is read and how it is written stand together.
// Reading a section, refusing what is no key of it, environment overrides,
// writing the effective configuration and the list of all keys come from it.
#ifndef GATHERD_SERVER_CONFIG_FIELD_H_
#define GATHERD_SERVER_CONFIG_FIELD_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "server/config_document.h"

namespace gatherd {

// What a field's reader gets.
struct ConfigValue {
  const ConfigEntry& entry;
  std::string_view allowed;

  const ConfigNode& node() const { return entry.value; }

  // "`dim` is `0`; allowed: 1 to 8192", at the value.
  absl::Status Refuse() const;
  // "`tls` is not supported by this version yet; leave it out", at the key.
  absl::Status RefuseForNow() const;
};

template <typename Section>
struct ConfigField {
  enum class Presence { kOptional, kRequired };

  std::string_view key;
  std::string_view allowed;  // for messages, behind "allowed: "
  absl::Status (*read)(const ConfigValue& value, Section& section);
  // The value as YAML that `read` understands; empty: the key is left out.
  std::string (*write)(const Section& section);
  Presence presence = Presence::kOptional;
};

// Refusals that need no section's type. `section` is its name in messages.
absl::Status RefuseNoMap(const ConfigNode& node, std::string_view section,
                         const std::vector<std::string_view>& keys);
absl::Status RefuseUnknownKey(const ConfigEntry& entry,
                              std::string_view section,
                              const std::vector<std::string_view>& keys);
absl::Status RefuseMissingKey(const ConfigNode& map, std::string_view section,
                              std::string_view key, std::string_view allowed);

// Of `words`, the one that `word` was probably meant to be; or empty.
std::string_view NearestWord(std::string_view word,
                             const std::vector<std::string_view>& words);

template <typename Section>
std::vector<std::string_view> KeysOf(
    const std::vector<ConfigField<Section>>& fields) {
  std::vector<std::string_view> keys;
  for (const ConfigField<Section>& field : fields) keys.push_back(field.key);
  return keys;
}

template <typename Section>
const ConfigField<Section>* FindField(
    const std::vector<ConfigField<Section>>& fields, std::string_view key) {
  for (const ConfigField<Section>& field : fields) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

// Reads a map, key by key in the order of the file.
template <typename Section>
absl::Status ReadSection(const ConfigNode& node, std::string_view name,
                         const std::vector<ConfigField<Section>>& fields,
                         Section& section) {
  if (node.kind != ConfigNode::Kind::kMap) {
    return RefuseNoMap(node, name, KeysOf(fields));
  }
  for (const ConfigEntry& entry : node.entries) {
    const ConfigField<Section>* field = FindField(fields, entry.key);
    if (field == nullptr) return RefuseUnknownKey(entry, name, KeysOf(fields));
    const ConfigValue value = {entry, field->allowed};
    if (auto status = field->read(value, section); !status.ok()) return status;
  }
  for (const ConfigField<Section>& field : fields) {
    if (field.presence == ConfigField<Section>::Presence::kRequired &&
        node.Find(field.key) == nullptr) {
      return RefuseMissingKey(node, name, field.key, field.allowed);
    }
  }
  return absl::OkStatus();
}

// The section as lines of YAML, each behind `indent`.
template <typename Section>
std::string WriteSection(const std::vector<ConfigField<Section>>& fields,
                         const Section& section, std::string_view indent) {
  std::string out;
  for (const ConfigField<Section>& field : fields) {
    const std::string value = field.write(section);
    if (value.empty()) continue;
    out.append(indent).append(field.key).append(":");
    // Lists begin on a line of their own.
    out.append(value[0] == '\n' ? "" : " ").append(value).append("\n");
  }
  return out;
}

// The section on one line: {rows: 10M, spread: sharded}.
template <typename Section>
std::string WriteFlow(const std::vector<ConfigField<Section>>& fields,
                      const Section& section) {
  std::string out;
  for (const ConfigField<Section>& field : fields) {
    const std::string value = field.write(section);
    if (value.empty()) continue;
    out.append(out.empty() ? "{" : ", ").append(field.key);
    out.append(": ").append(value);
  }
  return out + "}";
}

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_FIELD_H_
