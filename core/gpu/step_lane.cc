#include "core/gpu/step_lane.h"

#include "core/cuda/cuda_status.h"
#include "core/cuda/device.h"

namespace gatherd {

absl::Status LaunchOnLanes(
    const GpuNode& node, absl::Span<const StepLane> lanes, const char* name,
    absl::FunctionRef<cudaError_t(const StepLane&)> launch) {
  for (const StepLane& lane : lanes) {
    const DeviceId id = node.id(lane.device);
    auto scope = ScopedDevice::Enter(node.api(), id);
    if (!scope.ok()) return scope.status();
    absl::Status status = CudaStatus(node.api(), launch(lane), {name, id});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace gatherd
