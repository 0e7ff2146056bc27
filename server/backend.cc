#include "server/backend.h"

#include <utility>

#include "core/table/cpu_table.h"

namespace gatherd {
namespace {

constexpr char kNoCudaEngine[] = "this version has no CUDA engine yet";

Backend CpuBackend(std::string warning) {
  Backend backend;
  backend.name = "cpu";
  backend.make_table = CreateCpuTable;
  backend.warning = std::move(warning);
  return backend;
}

}  // namespace

absl::StatusOr<Backend> SelectBackend(const DevicesConfig& devices) {
  switch (devices.kind) {
    case DevicesConfig::Kind::kCpu:
      return CpuBackend("");
    case DevicesConfig::Kind::kAuto:
      return CpuBackend(std::string("devices: auto uses the CPU backend: ") +
                        kNoCudaEngine);
    case DevicesConfig::Kind::kCuda:
    case DevicesConfig::Kind::kList:
      break;
  }
  return absl::FailedPreconditionError(
      std::string("devices: no usable GPU: ") + kNoCudaEngine +
      "; set devices to cpu, or to auto, which uses a GPU where there is one");
}

std::string BuiltBackends() { return "cpu"; }

}  // namespace gatherd
