#include "server/invocation.h"

#include "absl/strings/numbers.h"
#include "cli/flags.h"

namespace gatherd {
namespace {

constexpr uint32_t kMaxGpus = 1024;

absl::Status Refuse(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

}  // namespace

const char kInvocationHelp[] =
    R"(gatherd serves embedding tables over gRPC.

usage: gatherd --config=FILE
       gatherd --config=FILE --check [--gpus=N]
       gatherd --version
       gatherd --help

  --config=FILE  the configuration, in YAML
  --check        validate it, print it as it takes effect and the memory that
                 each table will take on each device, and exit
  --gpus=N       the GPUs that --check counts on where the configuration lists
                 none; 1 if left out

exit codes: 0 stopped when asked to; 1 failed; 2 bad flags or configuration;
3 no usable GPU where the configuration demands one
)";

absl::StatusOr<Invocation> ParseInvocation(int argc, const char* const* argv) {
  const auto flags = CommandLine::Parse(argc, argv,
                                        {{"config"},
                                         {"gpus"},
                                         {"check", false},
                                         {"version", false},
                                         {"help", false}});
  if (!flags.ok()) return flags.status();
  if (!flags->words().empty()) {
    return Refuse("`" + flags->words()[0] +
                  "` is no flag; allowed: --config=FILE, --check, --gpus=N, "
                  "--version, --help");
  }
  Invocation invocation;
  if (flags->Has("help") || flags->Has("version")) {
    invocation.action = flags->Has("help") ? Invocation::Action::kHelp
                                           : Invocation::Action::kVersion;
    return invocation;
  }
  invocation.config_path = flags->Get("config").value_or("");
  if (invocation.config_path.empty()) {
    return Refuse("--config=FILE is missing");
  }
  if (flags->Has("check")) invocation.action = Invocation::Action::kCheck;
  if (const auto gpus = flags->Get("gpus"); gpus.has_value()) {
    if (!flags->Has("check")) return Refuse("--gpus=N goes with --check alone");
    uint32_t& num_gpus = invocation.num_gpus;
    if (!absl::SimpleAtoi(*gpus, &num_gpus) || num_gpus < 1 ||
        num_gpus > kMaxGpus) {
      return Refuse("--gpus is `" + *gpus + "`; allowed: 1 to 1024");
    }
  }
  return invocation;
}

}  // namespace gatherd
