// One device's part in the steps of a write: the shard that it owns.
#ifndef GATHERD_CORE_GPU_STEP_LANE_H_
#define GATHERD_CORE_GPU_STEP_LANE_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/base/device_index.h"
#include "core/cuda/stream.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/write_context.h"
#include "core/kernels/write_batch.h"

namespace gatherd {

struct StepLane {
  DeviceIndex device;
  StreamView stream;
  WriteScratch scratch;
  kernels::WriteBatch batch;
};

// Calls `launch` for each lane, its device being the current one. `name`: of
// the function that it launches, for errors.
absl::Status LaunchOnLanes(
    const GpuNode& node, absl::Span<const StepLane> lanes, const char* name,
    absl::FunctionRef<cudaError_t(const StepLane&)> launch);

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_STEP_LANE_H_
