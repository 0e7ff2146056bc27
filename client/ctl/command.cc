#include "client/ctl/command.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace gatherd::client {
namespace {

constexpr Command kCommands[] = {
    {"info", "", "version, backend, devices and limits", {}, 0, 0, RunInfo},
    {"tables", "", "every table and its tiers", {}, 0, 0, RunTables},
    {"stages",
     "[--metrics=HOST:PORT] [--interval=D]",
     "where requests spend their time: since the server's start, or of an "
     "interval from now on; metrics is localhost:7401 by default",
     {"metrics", "interval"},
     0,
     0,
     RunStages},
    {"lookup", "TABLE KEY...", "rows of keys", {}, 2, kAnyNumber, RunLookup},
    {"update",
     "[--mode=set|add|set_existing] TABLE KEY=v1,v2,... ...",
     "write rows (default: set)",
     {"mode"},
     2,
     kAnyNumber,
     RunUpdate},
    {"erase", "TABLE KEY...", "erase rows", {}, 2, kAnyNumber, RunErase},
    {"load",
     "[--keys=KEYS.npy] TABLE FILE.npy",
     "write the rows of a file; without keys (dense tables), row i has key i",
     {"keys"},
     2,
     2,
     RunLoad},
    {"save",
     "TABLE DIRECTORY",
     "not yet: comes with a later version",
     {},
     2,
     2,
     RunSave},
    {"health", "", "SERVING, or exit code 1", {}, 0, 0, RunHealth},
};

constexpr const char* kOwnFlags[] = {"mode", "keys", "metrics", "interval"};

absl::Status WrongWords(const Command& command) {
  return absl::InvalidArgumentError(
      absl::StrCat("usage: gatherctl ", command.name,
                   command.arguments.empty() ? "" : " ", command.arguments));
}

}  // namespace

absl::Span<const Command> Commands() { return kCommands; }

const Command* FindCommand(absl::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

absl::Status CheckUsage(const Command& command, const CommandLine& line) {
  for (const char* const flag : kOwnFlags) {
    const auto& own = command.flags;
    if (line.Has(flag) &&
        std::find(own.begin(), own.end(), flag) == own.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, " does not go with ", command.name));
    }
  }
  const size_t num_words = line.words().size() - 1;
  if (num_words < command.min_words || num_words > command.max_words) {
    return WrongWords(command);
  }
  return absl::OkStatus();
}

std::string CommandsHelp() {
  std::string text;
  for (const Command& command : kCommands) {
    absl::StrAppendFormat(&text, "  %s %s\n        %s\n", command.name,
                          command.arguments, command.summary);
  }
  return text;
}

}  // namespace gatherd::client
