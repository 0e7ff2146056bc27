// Which engine serves the tables: the one place that knows what this build
// and this machine have.
#ifndef GATHERD_SERVER_BACKEND_H_
#define GATHERD_SERVER_BACKEND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/catalog/catalog.h"
#include "core/catalog/source_loader.h"
#include "core/exec/device_link.h"
#include "core/exec/device_stats.h"
#include "core/exec/dispatcher.h"
#include "server/config.h"
#include "server/reply_memory.h"

namespace gatherd {

struct Backend {
  std::string name;                  // "cpu" or "cuda"
  std::vector<std::string> devices;  // one line a GPU; none on the CPU
  std::vector<DeviceLink> links;     // every ordered pair of those GPUs
  std::string warning;  // for the log, if the choice may surprise; or empty

  // Owns what tables and dispatcher work with, and so has to outlive them. May
  // be null.
  std::shared_ptr<void> engine;
  TableFactory make_table;
  std::function<std::unique_ptr<Dispatcher>()> make_dispatcher;
  ReplyMemory reply_memory;
  // How sources of tables are loaded, but for the threads; all at a time share
  // its memory_bytes.
  LoadOptions load;
  // One for each of `devices`, in order. From any thread; waits for no lookup.
  std::function<std::vector<DeviceStats>()> device_stats;
};

// The CPU backend. It is always there.
Backend CpuBackend();

// The backend for `config.devices`. Where `auto` finds no GPU that can be used
// for these tables, the CPU backend with a warning. Otherwise
//   FAILED_PRECONDITION or NOT_FOUND  no usable GPU, saying what is missing and
//                                     what to configure instead: kExitNoGpu
//   INVALID_ARGUMENT or UNIMPLEMENTED a table that it cannot have: kExitUsage
//   anything else                     kExitFailure
absl::StatusOr<Backend> SelectBackend(const Config& config);

// The backends that this build has, for --version: "cpu" or "cpu, cuda".
std::string BuiltBackends();

}  // namespace gatherd

#endif  // GATHERD_SERVER_BACKEND_H_
