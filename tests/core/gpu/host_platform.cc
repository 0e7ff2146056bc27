// The write tests without a GPU.
#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/host_kernels.h"
#include "tests/gpu/rig_platform.h"

namespace gatherd::kernels {

const RigPlatform& Platform() {
  static auto* const cuda = new FakeCuda(1);
  static const RigPlatform platform = {cuda->api(), HostKernels(), false};
  return platform;
}

}  // namespace gatherd::kernels
