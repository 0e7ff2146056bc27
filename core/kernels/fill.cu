// Blocks of 256 threads, striding. A thread keeps one 16-byte part of the row
// in registers and stores it once a step: bound by what HBM takes.
#include "core/kernels/fill.h"

#include <algorithm>

namespace gatherd::kernels {
namespace {

constexpr int kFillThreads = 256;
constexpr uint32_t kMaxBlocks = 1056;  // 8 for each of 132 multiprocessors

uint32_t NumBlocks(uint64_t num_items) {
  return static_cast<uint32_t>(std::min<uint64_t>(
      (num_items + kFillThreads - 1) / kFillThreads, kMaxBlocks));
}

// `step`: a multiple of parts_per_row, so that a thread's part stays the same.
__global__ void __launch_bounds__(kFillThreads)
    FillRowsKernel(int4* parts, uint64_t num_parts, const int4* row,
                   uint32_t parts_per_row, uint32_t step) {
  const uint32_t thread = blockIdx.x * kFillThreads + threadIdx.x;
  if (thread >= step) return;
  const int4 part = row[thread % parts_per_row];
  for (uint64_t i = thread; i < num_parts; i += step) __stcs(parts + i, part);
}

__global__ void __launch_bounds__(kFillThreads)
    IotaKernel(uint32_t* out, uint32_t count, uint32_t first) {
  const uint64_t step = uint64_t{gridDim.x} * kFillThreads;
  for (uint64_t i = blockIdx.x * kFillThreads + threadIdx.x; i < count;
       i += step) {
    out[i] = first + static_cast<uint32_t>(i);
  }
}

}  // namespace

cudaError_t FillRowsAsync(void* rows, uint64_t num_rows, const void* row,
                          uint32_t row_stride, cudaStream_t stream) {
  if (num_rows == 0) return cudaSuccess;
  const uint32_t parts_per_row = row_stride / sizeof(int4);
  const uint64_t num_parts = num_rows * parts_per_row;
  const uint32_t num_blocks = NumBlocks(num_parts);
  const uint32_t num_threads = num_blocks * kFillThreads;
  FillRowsKernel<<<num_blocks, kFillThreads, 0, stream>>>(
      static_cast<int4*>(rows), num_parts, static_cast<const int4*>(row),
      parts_per_row, num_threads / parts_per_row * parts_per_row);
  return cudaGetLastError();
}

cudaError_t IotaAsync(uint32_t* out, uint32_t count, uint32_t first,
                      cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  IotaKernel<<<NumBlocks(count), kFillThreads, 0, stream>>>(out, count, first);
  return cudaGetLastError();
}

}  // namespace gatherd::kernels
