// Single values of the configuration: how each kind is read and written.
// Readers refuse with the field's own text of what is allowed; what a writer
// gives is read back as the same value.
#ifndef GATHERD_SERVER_CONFIG_VALUE_H_
#define GATHERD_SERVER_CONFIG_VALUE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/config_field.h"

namespace gatherd {

template <typename T>
struct ConfigRange {
  T min;
  T max;
};

absl::Status ReadText(const ConfigValue& value, std::string& out);
// `true` or `false`, not in quotes.
absl::Status ReadBool(const ConfigValue& value, bool& out);
// Decimal digits alone, not in quotes.
absl::Status ReadInteger(const ConfigValue& value, ConfigRange<uint64_t> range,
                         uint64_t& out);
// A number, not in quotes, at most `limit`, which is finite, from zero.
absl::Status ReadNumber(const ConfigValue& value, float limit, float& out);
absl::Status ReadByteSize(const ConfigValue& value, ConfigRange<uint64_t> range,
                          uint64_t& out);
absl::Status ReadRowCount(const ConfigValue& value, ConfigRange<uint64_t> range,
                          uint64_t& out);
// Whole microseconds, as any unit gives.
absl::Status ReadDuration(const ConfigValue& value,
                          ConfigRange<absl::Duration> range,
                          absl::Duration& out);

// One of a few words.
template <typename Enum>
absl::Status ReadWord(
    const ConfigValue& value,
    const std::vector<std::pair<std::string_view, Enum>>& words, Enum& out) {
  for (const auto& [word, meaning] : words) {
    if (value.node().kind == ConfigNode::Kind::kScalar &&
        value.node().text == word) {
      out = meaning;
      return absl::OkStatus();
    }
  }
  return value.Refuse();
}

template <typename Enum>
std::string WriteWord(
    const std::vector<std::pair<std::string_view, Enum>>& words, Enum meaning) {
  for (const auto& [word, candidate] : words) {
    if (candidate == meaning) return std::string(word);
  }
  return "";
}

std::string WriteText(std::string_view text);  // in double quotes
std::string WriteBool(bool value);
std::string WriteNumber(float value);
std::string WriteByteSize(uint64_t bytes);
std::string WriteRowCount(uint64_t rows);
std::string WriteDuration(absl::Duration duration);

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_VALUE_H_
