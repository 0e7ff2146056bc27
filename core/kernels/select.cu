// Selecting: one thread a key, blocks of 256, twice: to count, and to write
// behind what the blocks before have. 8 bytes of key, a slot and a key compared
// with from L2 each time, and 12 bytes written for each that is selected.
//
// Fetching: blocks of 256 threads, striding over units of up to 16 bytes, four
// a thread in flight. Bound by PCIe, which eight blocks fill: 32 were no faster
// and made a longer queue there, in which lookups wait (docs/gpu_engine.md).
#include "core/kernels/select.h"

#include <algorithm>

#include "core/kernels/dedup_of.cuh"
#include "core/kernels/store.cuh"

namespace gatherd::kernels {
namespace {

constexpr uint32_t kMaxFetchBlocks = 8;
constexpr int kInFlight = 4;

__device__ __forceinline__ bool IsSelected(const WriteBatch& batch,
                                           const DedupRef& dedup, uint32_t i) {
  if (i >= batch.num_keys) return false;
  const int64_t key = batch.keys[i];
  return IsOwned(batch, key) && dedup.IsLast(i, key);
}

__global__ void __launch_bounds__(kWriteThreads)
    CountSelectedKernel(const __grid_constant__ WriteBatch batch,
                        const DedupRef dedup, uint32_t* counts) {
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  const int count = __syncthreads_count(IsSelected(batch, dedup, i));
  if (threadIdx.x == 0) counts[blockIdx.x] = static_cast<uint32_t>(count);
}

// The sum of the first `count` of `counts`, for all threads of the block.
__device__ __forceinline__ uint32_t SumInBlock(const uint32_t* counts,
                                               uint32_t count) {
  __shared__ uint32_t sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  uint32_t mine = 0;
  for (uint32_t i = threadIdx.x; i < count; i += kWriteThreads) {
    mine += counts[i];
  }
  mine = __reduce_add_sync(kFullWarp, mine);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(&sum, mine);
  __syncthreads();
  return sum;
}

__global__ void __launch_bounds__(kWriteThreads)
    SelectKernel(const __grid_constant__ WriteBatch batch, const DedupRef dedup,
                 const Selection selection, const uint32_t* counts) {
  const uint32_t first = SumInBlock(counts, blockIdx.x);
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  const bool selected = IsSelected(batch, dedup, i);
  __shared__ uint32_t in_block;
  if (threadIdx.x == 0) in_block = 0;
  // Its ranks are in order; the barriers in it come before the sum is added to.
  const uint32_t rank = first + CountInBlock(selected, &in_block);
  if (selected) {
    selection.positions[rank] = i;
    selection.keys[rank] = batch.keys[i];
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    *selection.count = first + in_block;
  }
}

template <class Unit>
__global__ void __launch_bounds__(kWriteThreads)
    FetchRowsKernel(const HostRows values, const uint32_t* positions,
                    uint32_t num_units, Unit* to) {
  const uint32_t units_per_row = values.row_bytes / sizeof(Unit);
  const uint32_t step = gridDim.x * kWriteThreads;
  const Unit* from = static_cast<const Unit*>(values.rows);
  for (uint32_t start = blockIdx.x * kWriteThreads + threadIdx.x;
       start < num_units; start += kInFlight * step) {
    Unit unit[kInFlight];
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      const uint32_t i = start + u * step;
      if (i >= num_units) continue;
      const uint32_t row = i / units_per_row;
      unit[u] = __ldcs(from + uint64_t{positions[row]} * units_per_row +
                       (i - row * units_per_row));
    }
#pragma unroll
    for (int u = 0; u < kInFlight; u++) {
      const uint32_t i = start + u * step;
      if (i < num_units) to[i] = unit[u];
    }
  }
}

template <class Unit>
void LaunchFetch(const HostRows& values, const uint32_t* positions,
                 uint32_t count, void* to, cudaStream_t stream) {
  const auto num_units =
      static_cast<uint32_t>(count * (values.row_bytes / sizeof(Unit)));
  const uint32_t num_blocks = std::min(
      kMaxFetchBlocks, WriteBlocks((num_units + kInFlight - 1) / kInFlight));
  FetchRowsKernel<Unit><<<num_blocks, kWriteThreads, 0, stream>>>(
      values, positions, num_units, static_cast<Unit*>(to));
}

}  // namespace

cudaError_t SelectAsync(const WriteBatch& batch, const Selection& selection,
                        cudaStream_t stream) {
  if (batch.num_keys == 0) {
    return cudaMemsetAsync(selection.count, 0, sizeof(uint32_t), stream);
  }
  const uint32_t num_blocks = WriteBlocks(batch.num_keys);
  auto* const counts = reinterpret_cast<uint32_t*>(batch.workspace.targets);
  CountSelectedKernel<<<num_blocks, kWriteThreads, 0, stream>>>(
      batch, DedupOf(batch), counts);
  SelectKernel<<<num_blocks, kWriteThreads, 0, stream>>>(batch, DedupOf(batch),
                                                         selection, counts);
  return cudaGetLastError();
}

cudaError_t FetchRowsAsync(const HostRows& values, const uint32_t* positions,
                           uint32_t count, void* to, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  switch (
      CommonUnit(values.row_bytes, reinterpret_cast<uint64_t>(values.rows))) {
    case 16:
      LaunchFetch<int4>(values, positions, count, to, stream);
      break;
    case 4:
      LaunchFetch<unsigned>(values, positions, count, to, stream);
      break;
    case 2:
      LaunchFetch<unsigned short>(values, positions, count, to, stream);
      break;
    default:
      LaunchFetch<unsigned char>(values, positions, count, to, stream);
  }
  return cudaGetLastError();
}

}  // namespace gatherd::kernels
