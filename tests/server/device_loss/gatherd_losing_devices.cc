// gatherd on the CPU backend, its tables on a device that is lost with the
// first lookup of key 13, and that fails a lookup of key 7 without being lost.
#include <cstdio>
#include <memory>
#include <utility>

#include "core/base/device_loss.h"
#include "server/backend.h"
#include "server/config.h"
#include "server/exit_code.h"
#include "server/invocation.h"
#include "server/server.h"
#include "server/shutdown_signals.h"
#include "tests/server/forwarding_table.h"

namespace gatherd {
namespace {

class LosingTable final : public ForwardingTable {
 public:
  using ForwardingTable::ForwardingTable;

  absl::StatusOr<LookupResult> Lookup(const LookupBatch& batch,
                                      const LookupOutput& output) override {
    for (const int64_t key : batch.keys) {
      const absl::Status error = absl::InternalError("device 0: a kernel died");
      if (key == 7) return error;
      if (key == 13) return MarkDeviceLoss(error);
    }
    return ForwardingTable::Lookup(batch, output);
  }
};

absl::StatusOr<Backend> LosingBackend(const Config& /*config*/) {
  Backend backend = CpuBackend();
  backend.make_table = CpuTablesIn<LosingTable>();
  return backend;
}

int Main(int argc, char** argv) {
  const auto invocation = ParseInvocation(argc, argv);
  if (!invocation.ok()) return kExitUsage;
  ShutdownSignals signals;
  const auto config = LoadConfig(invocation->config_path);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.status().ToString().c_str());
    return kExitUsage;
  }
  return RunServer(*config, signals, LosingBackend);
}

}  // namespace
}  // namespace gatherd

int main(int argc, char** argv) { return gatherd::Main(argc, argv); }
