// gatherd: does what its command line asks for.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "cli/version.h"
#include "core/base/heap.h"
#include "server/access/access_check.h"
#include "server/backend.h"
#include "server/check.h"
#include "server/config.h"
#include "server/descriptor_limit.h"
#include "server/exit_code.h"
#include "server/invocation.h"
#include "server/log.h"
#include "server/server.h"
#include "server/shutdown_signals.h"
#include "server/standard_streams.h"
#include "server/uncaught.h"

namespace gatherd {
namespace {

int Refuse(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return kExitUsage;
}

// With the files of certificates and tokens that it names.
absl::StatusOr<Config> ReadConfig(const std::string& path) {
  auto config = LoadConfig(path);
  if (!config.ok()) return config;
  absl::Status files = CheckAccessFiles(config->server);
  if (!files.ok()) return files;
  return config;
}

int Check(const std::string& config_path, uint32_t num_gpus) {
  const auto config = ReadConfig(config_path);
  if (!config.ok()) return Refuse(std::string(config.status().message()));
  const auto report = CheckReport(*config, num_gpus);
  if (!report.ok()) return Refuse(std::string(report.status().message()));
  std::vector<std::string> warnings = StartWarnings(*config);
  for (std::string& warning : CheckWarnings(*config)) {
    warnings.push_back(std::move(warning));
  }
  for (const std::string& warning : warnings) {
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  }
  std::fputs(report->c_str(), stdout);
  return kExitOk;
}

int Serve(const std::string& config_path) {
  // First of all: what comes while the configuration is read ends the server
  // as later signals do.
  ShutdownSignals signals;
  const auto config = ReadConfig(config_path);
  if (!config.ok()) return Refuse(std::string(config.status().message()));
  KeepFreedMessageMemory();
  RaiseDescriptorLimit();
  SetUpLogging(config->log);
  for (const std::string& warning : StartWarnings(*config)) {
    Log(LogLevel::kWarning, warning);
  }
  return RunServer(*config, signals);
}

int Main(int argc, char** argv) {
  SecureStandardStreams();
  ReportUncaughtExceptions();
  const auto invocation = ParseInvocation(argc, argv);
  if (!invocation.ok()) {
    return Refuse("gatherd: " + std::string(invocation.status().message()) +
                  "; see gatherd --help");
  }
  if (invocation->action == Invocation::Action::kHelp) {
    std::fputs(kInvocationHelp, stdout);
    return kExitOk;
  }
  if (invocation->action == Invocation::Action::kVersion) {
    std::printf("gatherd %s (backends: %s)\n", kGatherdVersion,
                BuiltBackends().c_str());
    return kExitOk;
  }

  if (invocation->action == Invocation::Action::kCheck) {
    return Check(invocation->config_path, invocation->num_gpus);
  }
  return Serve(invocation->config_path);
}

}  // namespace
}  // namespace gatherd

int main(int argc, char** argv) { return gatherd::Main(argc, argv); }
