// The part of gpu_scale_bench that asks the kernels: lookups of tables divided
// over all GPUs, with results on the GPUs and in pinned memory.
#ifndef GATHERD_TESTS_BENCH_GPU_SCALE_LOOKUPS_H_
#define GATHERD_TESTS_BENCH_GPU_SCALE_LOOKUPS_H_

#include <cstdint>
#include <string>

#include "core/cuda/vmm_buffer.h"

namespace gatherd::kernels {

// What the tables take of each GPU.
uint64_t ScaleBytesPerGpu();

// Measures on the devices of `buffer`, which are 0, 1 and so on, and prints a
// JSON object for each figure. Memory for keys and results stays taken. Ends
// the program on an error, or if a row is wrong.
void MeasureScaleLookups(VmmBuffer buffer);

// A figure that is no rate of lookups; the name includes its unit.
void PrintScaleValue(int num_gpus, const std::string& name, double value);

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_BENCH_GPU_SCALE_LOOKUPS_H_
