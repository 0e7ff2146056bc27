#include "tests/core/gpu/host_platform.h"

#include "tests/core/gpu/host_kernels.h"
#include "tests/gpu/rig_platform.h"

namespace gatherd::kernels {

FakeCuda& PlatformCuda() {
  static auto* const cuda = new FakeCuda(1, FakeStreams::kInThreads);
  return *cuda;
}

const RigPlatform& Platform() {
  static const RigPlatform platform = {PlatformCuda().api(), HostKernels(),
                                       false};
  return platform;
}

}  // namespace gatherd::kernels
