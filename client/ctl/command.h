// The commands of gatherctl: one table of what there is, which the usage text
// and main() go by.
#ifndef GATHERD_CLIENT_CTL_COMMAND_H_
#define GATHERD_CLIENT_CTL_COMMAND_H_

#include <array>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cli/flags.h"
#include "client/client.h"
#include "client/ctl/render.h"

namespace gatherd::client {

// How a command ended; the kinds are gatherctl's exit codes.
struct Outcome {
  enum Kind { kDone = 0, kFailed = 1, kMisused = 2 };

  static Outcome Done(std::string output) {
    return {kDone, std::move(output), absl::OkStatus()};
  }
  // The server refused or failed, or a file is not what it should be.
  static Outcome Failed(absl::Status status) {
    return {kFailed, "", std::move(status)};
  }
  // The command line is wrong.
  static Outcome Misused(absl::Status status) {
    return {kMisused, "", std::move(status)};
  }

  Kind kind = kDone;
  std::string output;  // for stdout
  absl::Status status;
};

struct CommandInput {
  Client& client;
  const CommandLine& line;              // its flags
  absl::Span<const std::string> words;  // those after the command's name
  Format format = Format::kText;
};

struct Command {
  absl::string_view name;
  absl::string_view arguments;  // as the usage text shows them
  absl::string_view summary;
  std::array<absl::string_view, 2> flags;  // that are its own; empty: none
  size_t min_words = 0;
  size_t max_words = 0;
  Outcome (*run)(const CommandInput& input);
};

inline constexpr size_t kAnyNumber = static_cast<size_t>(-1);

absl::Span<const Command> Commands();

// Null if there is none of that name.
const Command* FindCommand(absl::string_view name);

// OK if the words and flags of `line` fit the command.
absl::Status CheckUsage(const Command& command, const CommandLine& line);

// The commands, one line each.
std::string CommandsHelp();

// What they do, by the file that holds them: inspect_commands.cc,
Outcome RunInfo(const CommandInput& input);
Outcome RunTables(const CommandInput& input);
Outcome RunHealth(const CommandInput& input);
// stages_command.cc,
Outcome RunStages(const CommandInput& input);
// row_commands.cc,
Outcome RunLookup(const CommandInput& input);
Outcome RunUpdate(const CommandInput& input);
Outcome RunErase(const CommandInput& input);
// and file_commands.cc.
Outcome RunLoad(const CommandInput& input);
Outcome RunSave(const CommandInput& input);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_CTL_COMMAND_H_
