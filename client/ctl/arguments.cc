#include "client/ctl/arguments.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "core/base/fnv1a.h"

namespace gatherd::client {
namespace {

absl::StatusOr<float> ParseValue(absl::string_view text) {
  float value = 0;
  const bool is_number = absl::SimpleAtof(text, &value);
  const bool says_infinity =
      absl::StrContains(absl::AsciiStrToLower(text), "inf");
  if (!is_number || (std::isinf(value) && !says_infinity)) {
    return absl::InvalidArgumentError(
        absl::StrCat("value \"", text, "\" is no float32 number"));
  }
  return value;
}

}  // namespace

absl::StatusOr<int64_t> ParseKey(absl::string_view text) {
  if (absl::string_view hashed = text; absl::ConsumePrefix(&hashed, "fnv:")) {
    return Fnv1a64({hashed.data(), hashed.size()});
  }
  int64_t key = 0;
  if (!absl::SimpleAtoi(text, &key)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "key \"", text, "\" is neither a signed 64-bit number nor fnv:TEXT"));
  }
  return key;
}

absl::StatusOr<std::vector<int64_t>> ParseKeys(
    absl::Span<const std::string> words) {
  std::vector<int64_t> keys;
  keys.reserve(words.size());
  for (const std::string& word : words) {
    const absl::StatusOr<int64_t> key = ParseKey(word);
    if (!key.ok()) return key.status();
    keys.push_back(*key);
  }
  return keys;
}

absl::StatusOr<RowArguments> ParseRows(absl::Span<const std::string> words) {
  RowArguments rows;
  size_t num_first = 0;
  for (const absl::string_view word : words) {
    const size_t equals = word.rfind('=');
    if (equals == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", word, "\" is not KEY=v1,v2,..."));
    }
    const absl::StatusOr<int64_t> key = ParseKey(word.substr(0, equals));
    if (!key.ok()) return key.status();
    rows.keys.push_back(*key);
    size_t num_values = 0;
    for (const absl::string_view text :
         absl::StrSplit(word.substr(equals + 1), ',')) {
      const absl::StatusOr<float> value = ParseValue(text);
      if (!value.ok()) return value.status();
      rows.values.push_back(*value);
      ++num_values;
    }
    if (rows.keys.size() == 1) num_first = num_values;
    if (num_values != num_first) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", word, "\" has ", num_values,
                       " values; the first row has ", num_first));
    }
  }
  return rows;
}

absl::StatusOr<UpdateMode> ParseUpdateMode(absl::string_view text) {
  if (text == "set") return UpdateMode::kSet;
  if (text == "add") return UpdateMode::kAdd;
  if (text == "set_existing") return UpdateMode::kSetExisting;
  return absl::InvalidArgumentError(
      absl::StrCat("mode \"", text, "\" is not one of set, add, set_existing"));
}

}  // namespace gatherd::client
