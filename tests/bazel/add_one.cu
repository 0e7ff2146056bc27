// The least kernel that proves cuda_library: grid of one-dimensional blocks,
// one element a thread.
#include "tests/bazel/add_one.h"

namespace gatherd {
namespace {

__global__ void AddOneKernel(float* values, int num_values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < num_values) values[i] += 1.0F;
}

}  // namespace

cudaError_t AddOneAsync(float* values, int num_values, cudaStream_t stream) {
  constexpr int kBlock = 128;
  const int grid = (num_values + kBlock - 1) / kBlock;
  AddOneKernel<<<grid, kBlock, 0, stream>>>(values, num_values);
  return cudaGetLastError();
}

}  // namespace gatherd
