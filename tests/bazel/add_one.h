#ifndef GATHERD_TESTS_BAZEL_ADD_ONE_H_
#define GATHERD_TESTS_BAZEL_ADD_ONE_H_

#include <cuda_runtime_api.h>

namespace gatherd {

// Adds 1 to each of `num_values` elements of device memory.
cudaError_t AddOneAsync(float* values, int num_values, cudaStream_t stream);

}  // namespace gatherd

#endif  // GATHERD_TESTS_BAZEL_ADD_ONE_H_
