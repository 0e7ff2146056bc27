// The functions behind FakeCuda's table, in two files: those of the runtime and
// those of the driver.
#ifndef GATHERD_TESTS_CORE_CUDA_FAKE_CALLS_H_
#define GATHERD_TESTS_CORE_CUDA_FAKE_CALLS_H_

#include <cstddef>

#include "core/cuda/cuda_api.h"

namespace gatherd {

void FillInFakeRuntime(CudaApi* api);
void FillInFakeDriver(CudaApi* api);

// Addresses whose pages appear on first use; nullptr if there are none left.
void* MapPages(size_t num_bytes);

// New memory is not zero: whoever counts on that shall notice.
void FillWithGarbage(void* data, size_t num_bytes);

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_CUDA_FAKE_CALLS_H_
