// The write tests' platform without a GPU, for tests that need the fake itself.
#ifndef GATHERD_TESTS_CORE_GPU_HOST_PLATFORM_H_
#define GATHERD_TESTS_CORE_GPU_HOST_PLATFORM_H_

#include "tests/core/cuda/fake_cuda.h"

namespace gatherd::kernels {

// The one behind Platform().
FakeCuda& PlatformCuda();

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_CORE_GPU_HOST_PLATFORM_H_
