// One thread a key, blocks of 256, the greatest positions first. A key moved
// costs 8 bytes of HBM; its slot and the key compared with come from L2.
#include "core/kernels/dedup.h"

#include "core/kernels/dedup_of.cuh"

namespace gatherd::kernels {
namespace {

__global__ void __launch_bounds__(kWriteThreads)
    DeduplicateKernel(const __grid_constant__ WriteBatch batch,
                      const DedupRef dedup) {
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  if (i >= batch.num_keys) return;
  const uint32_t position = batch.num_keys - 1 - i;
  if (!IsOwned(batch, batch.keys[position])) return;
  dedup.Add(position);
}

}  // namespace

cudaError_t DeduplicateAsync(const WriteBatch& batch, cudaStream_t stream) {
  if (batch.num_keys == 0) return cudaSuccess;
  const cudaError_t error =
      cudaMemsetAsync(batch.workspace.dedup, 0,
                      uint64_t{4} * NumDedupSlots(batch.num_keys), stream);
  if (error != cudaSuccess) return error;
  DeduplicateKernel<<<WriteBlocks(batch.num_keys), kWriteThreads, 0, stream>>>(
      batch, DedupOf(batch));
  return cudaGetLastError();
}

}  // namespace gatherd::kernels
