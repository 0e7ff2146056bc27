// gatherctl: inspect and edit the tables of a running server from a shell.
// Exit codes: 0 done, 1 the server refused or failed, 2 bad usage.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/flags.h"
#include "cli/version.h"
#include "client/channel.h"
#include "client/connection_flags.h"
#include "client/ctl/command.h"

namespace gatherd::client {
namespace {

std::string Help() {
  return absl::StrCat(
      "usage: gatherctl [FLAGS] COMMAND\n\ncommands:\n", CommandsHelp(),
      "\nA KEY is a signed 64-bit number, or fnv:TEXT for the FNV-1a 64 of "
      "TEXT.\n\nflags, before or after the command:\n",
      ConnectionFlagsHelp(),
      "  --json               print one JSON object instead of text\n"
      "  --help               print this\n"
      "  --version            print the version\n"
      "\nExit codes: 0 done, 1 the server refused or failed, 2 bad usage.\n");
}

int Misused(const absl::Status& status) {
  const std::string message(status.message());
  std::fprintf(stderr, "gatherctl: %s\n", message.c_str());
  return Outcome::kMisused;
}

int Finish(const Outcome& outcome) {
  std::fputs(outcome.output.c_str(), stdout);
  if (outcome.kind == Outcome::kMisused) return Misused(outcome.status);
  if (!outcome.status.ok()) {
    std::fprintf(
        stderr, "%s\n",
        outcome.status.ToString(absl::StatusToStringMode::kWithNoExtraData)
            .c_str());
  }
  return outcome.kind;
}

int Run(const CommandLine& line) {
  const Command* command = FindCommand(line.words()[0]);
  if (command == nullptr) {
    return Misused(absl::InvalidArgumentError(
        absl::StrCat("no command \"", line.words()[0], "\"; see --help")));
  }
  if (absl::Status status = CheckUsage(*command, line); !status.ok()) {
    return Misused(status);
  }
  absl::StatusOr<ClientOptions> options = ReadConnectionFlags(line);
  if (!options.ok()) return Misused(options.status());
  if (const std::string warning = ConnectionWarning(options->connection);
      !warning.empty()) {
    std::fprintf(stderr, "gatherctl: warning: %s\n", warning.c_str());
  }
  const auto client = Client::Create(*options);
  if (!client.ok()) return Misused(client.status());
  return Finish(command->run(
      {**client, line, absl::MakeConstSpan(line.words()).subspan(1),
       line.Has("json") ? Format::kJson : Format::kText}));
}

int Main(int argc, const char* const* argv) {
  std::vector<FlagSpec> flags(ConnectionFlags().begin(),
                              ConnectionFlags().end());
  flags.insert(flags.end(), {{"json", false},
                             {"help", false},
                             {"version", false},
                             {"mode", true},
                             {"keys", true},
                             {"metrics", true},
                             {"interval", true}});
  const absl::StatusOr<CommandLine> line =
      CommandLine::Parse(argc, argv, flags);
  if (!line.ok()) return Misused(line.status());
  if (line->Has("help")) {
    std::fputs(Help().c_str(), stdout);
    return Outcome::kDone;
  }
  if (line->Has("version")) {
    std::printf("gatherctl %s\n", kGatherdVersion);
    return Outcome::kDone;
  }
  if (line->words().empty()) {
    std::fputs(Help().c_str(), stderr);
    return Outcome::kMisused;
  }
  return Run(*line);
}

}  // namespace
}  // namespace gatherd::client

int main(int argc, char** argv) {
  gatherd::client::SilenceGrpcLog();
  return gatherd::client::Main(argc, argv);
}
