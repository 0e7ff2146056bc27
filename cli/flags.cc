#include "cli/flags.h"

#include "absl/strings/str_cat.h"

namespace gatherd {
namespace {

const FlagSpec* FindFlag(absl::Span<const FlagSpec> flags,
                         std::string_view name) {
  for (const FlagSpec& flag : flags) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<CommandLine> CommandLine::Parse(
    int argc, const char* const* argv, absl::Span<const FlagSpec> flags) {
  CommandLine result;
  bool only_words = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (only_words || argument.substr(0, 2) != "--") {
      result.words_.emplace_back(argument);
      continue;
    }
    if (argument == "--") {
      only_words = true;
      continue;
    }
    const size_t equals = argument.find('=');
    const bool has_value = equals != std::string_view::npos;
    const std::string name(argument.substr(2, has_value ? equals - 2 : equals));
    const std::string value(has_value ? argument.substr(equals + 1) : "");

    const FlagSpec* flag = FindFlag(flags, name);
    if (flag == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown flag --", name, "; --help lists the flags"));
    }
    if (flag->takes_value && !has_value) {
      return absl::InvalidArgumentError(
          absl::StrCat("flag --", name, " needs a value: --", name, "=VALUE"));
    }
    if (!flag->takes_value && has_value) {
      return absl::InvalidArgumentError(absl::StrCat(
          "flag --", name, " takes no value, but was given \"", value, "\""));
    }
    if (!result.values_.emplace(name, value).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("flag --", name, " is given twice"));
    }
  }
  return result;
}

bool CommandLine::Has(std::string_view name) const {
  return values_.find(name) != values_.end();
}

std::optional<std::string> CommandLine::Get(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

}  // namespace gatherd
