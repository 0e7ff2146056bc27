#include "server/backend.h"

#include "absl/strings/str_cat.h"
#include "core/table/cpu_table.h"
#include "server/cuda_backend.h"

namespace gatherd {
namespace {

// Whether `status` says that there is no GPU, or none that these tables can be
// on: a reason for `auto` to use the CPU. A GPU that fails is none.
bool IsWithoutGpu(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsNotFound(status) ||
         absl::IsUnimplemented(status);
}

}  // namespace

Backend CpuBackend() {
  Backend backend;
  backend.name = "cpu";
  backend.make_table = CreateCpuTable;
  backend.make_dispatcher = [] { return CreateThreadDispatcher({}); };
  backend.reply_memory = HeapReplyMemory();
  backend.device_stats = [] { return std::vector<DeviceStats>(); };
  return backend;
}

absl::StatusOr<Backend> SelectBackend(const Config& config) {
  const DevicesConfig& devices = config.devices;
  if (devices.kind == DevicesConfig::Kind::kCpu) return CpuBackend();

  auto cuda = CudaBackend(devices.list, config.tables, config.server);
  if (cuda.ok()) return cuda;
  const absl::Status& status = cuda.status();
  if (devices.kind == DevicesConfig::Kind::kAuto && IsWithoutGpu(status)) {
    Backend cpu = CpuBackend();
    cpu.warning =
        absl::StrCat("devices: auto uses the CPU backend: ", status.message());
    return cpu;
  }
  if (absl::IsFailedPrecondition(status) || absl::IsNotFound(status)) {
    return absl::Status(
        status.code(),
        absl::StrCat("devices: no usable GPU: ", status.message(),
                     "; set devices to cpu, or to auto, which uses a GPU where "
                     "there is one"));
  }
  return status;
}

std::string BuiltBackends() { return CudaIsBuilt() ? "cpu, cuda" : "cpu"; }

}  // namespace gatherd
