#include "tests/gpu/rig_platform.h"

namespace gatherd::kernels {

const RigPlatform& Platform() {
  static const RigPlatform platform = {RealCudaApi(), RealKernels(), true};
  return platform;
}

}  // namespace gatherd::kernels
