// The tables of the CUDA backend keep the contract on the GPUs of this machine:
// on one, and on all of them if there are more.
#include "core/cuda/device.h"
#include "tests/core/gpu/gpu_table_kinds.h"

namespace gatherd {
namespace {

constexpr uint64_t kTableBytes = uint64_t{4} << 30;

std::vector<TableKind> MakeKinds() {
  std::vector<TableKind> kinds;
  const auto devices = ListDevices(RealCudaApi());
  const int num_devices = devices.ok() ? static_cast<int>(devices->size()) : 1;
  for (const int num : {1, num_devices}) {
    if (num == 1 && !kinds.empty()) continue;
    // For as long as this process.
    static std::vector<std::unique_ptr<GpuNode>>* const nodes =
        new std::vector<std::unique_ptr<GpuNode>>;
    nodes->push_back(
        MakeTestNode(RealCudaApi(), kernels::RealKernels(), num, kTableBytes));
    for (TableKind& kind : GpuTableKinds(*nodes->back())) {
      kinds.push_back(std::move(kind));
    }
  }
  return kinds;
}

}  // namespace

const std::vector<TableKind>& TableKinds() {
  static const auto* const kinds = new std::vector<TableKind>(MakeKinds());
  return *kinds;
}

}  // namespace gatherd
