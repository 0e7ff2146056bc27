#include "server/config_value.h"

#include <array>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "cli/units.h"

namespace gatherd {
namespace {

struct Unit {
  uint64_t factor;
  const char* name;
};

constexpr std::array<Unit, 4> kByteUnits = {{{uint64_t{1} << 40, "TiB"},
                                             {uint64_t{1} << 30, "GiB"},
                                             {uint64_t{1} << 20, "MiB"},
                                             {uint64_t{1} << 10, "KiB"}}};
constexpr std::array<Unit, 3> kRowUnits = {
    {{1'000'000'000, "G"}, {1'000'000, "M"}, {1'000, "K"}}};
constexpr std::array<Unit, 3> kTimeUnits = {
    {{60'000'000, "m"}, {1'000'000, "s"}, {1'000, "ms"}}};

// In the largest unit that divides `value`.
template <size_t N>
std::string WriteInUnits(uint64_t value, const std::array<Unit, N>& units,
                         const char* smallest) {
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) {
      return absl::StrFormat("%d%s", value / unit.factor, unit.name);
    }
  }
  return absl::StrFormat("%d%s", value, smallest);
}

bool IsPlainScalar(const ConfigNode& node) {
  return node.kind == ConfigNode::Kind::kScalar && !node.quoted;
}

bool HasOnly(std::string_view text, std::string_view characters) {
  return !text.empty() &&
         text.find_first_not_of(characters) == std::string_view::npos;
}

// What `parse` makes of the value's text, if that lies in the range.
template <typename T, typename Parse>
absl::Status ReadInRange(const ConfigValue& value, const Parse& parse,
                         const ConfigRange<T>& range, T& out) {
  if (value.node().kind != ConfigNode::Kind::kScalar) return value.Refuse();
  const absl::StatusOr<T> parsed = parse(value.node().text);
  if (!parsed.ok() || *parsed < range.min || *parsed > range.max) {
    return value.Refuse();
  }
  out = *parsed;
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadText(const ConfigValue& value, std::string& out) {
  if (value.node().kind != ConfigNode::Kind::kScalar) return value.Refuse();
  out = value.node().text;
  return absl::OkStatus();
}

absl::Status ReadBool(const ConfigValue& value, bool& out) {
  const std::string& text = value.node().text;
  if (!IsPlainScalar(value.node()) || (text != "true" && text != "false")) {
    return value.Refuse();
  }
  out = text == "true";
  return absl::OkStatus();
}

absl::Status ReadInteger(const ConfigValue& value, ConfigRange<uint64_t> range,
                         uint64_t& out) {
  const std::string& text = value.node().text;
  uint64_t parsed = 0;
  if (!IsPlainScalar(value.node()) || !HasOnly(text, "0123456789") ||
      !absl::SimpleAtoi(text, &parsed) || parsed < range.min ||
      parsed > range.max) {
    return value.Refuse();
  }
  out = parsed;
  return absl::OkStatus();
}

absl::Status ReadNumber(const ConfigValue& value, float limit, float& out) {
  const std::string& text = value.node().text;
  float parsed = 0;
  // The characters keep out words for infinity; too large a number is one.
  if (!IsPlainScalar(value.node()) || !HasOnly(text, "0123456789+-.eE") ||
      !absl::SimpleAtof(text, &parsed) || !(std::abs(parsed) <= limit)) {
    return value.Refuse();
  }
  out = parsed;
  return absl::OkStatus();
}

absl::Status ReadByteSize(const ConfigValue& value, ConfigRange<uint64_t> range,
                          uint64_t& out) {
  return ReadInRange(value, ParseByteSize, range, out);
}

absl::Status ReadRowCount(const ConfigValue& value, ConfigRange<uint64_t> range,
                          uint64_t& out) {
  return ReadInRange(value, ParseRowCount, range, out);
}

absl::Status ReadDuration(const ConfigValue& value,
                          ConfigRange<absl::Duration> range,
                          absl::Duration& out) {
  return ReadInRange(value, ParseDuration, range, out);
}

std::string WriteText(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7F) {
      absl::StrAppendFormat(&out, "\\x%02x", byte);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string WriteBool(bool value) { return value ? "true" : "false"; }

std::string WriteNumber(float value) {
  // Nine digits tell all float32 apart; fewer if they do.
  for (int digits = 1; digits < 9; ++digits) {
    std::string text =
        absl::StrFormat("%.*g", digits, static_cast<double>(value));
    float parsed = 0;
    if (absl::SimpleAtof(text, &parsed) && parsed == value) return text;
  }
  return absl::StrFormat("%.9g", static_cast<double>(value));
}

std::string WriteByteSize(uint64_t bytes) {
  return WriteInUnits(bytes, kByteUnits, "");
}

std::string WriteRowCount(uint64_t rows) {
  return WriteInUnits(rows, kRowUnits, "");
}

std::string WriteDuration(absl::Duration duration) {
  return WriteInUnits(
      static_cast<uint64_t>(absl::ToInt64Microseconds(duration)), kTimeUnits,
      duration == absl::ZeroDuration() ? "s" : "us");
}

}  // namespace gatherd
