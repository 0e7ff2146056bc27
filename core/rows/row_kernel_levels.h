// The row kernels at each level of vector instructions they are compiled for.
// Tests and benchmarks compare the levels; everybody else uses row_kernels.h,
// which takes the widest one.
//
// All levels give the same bits, but for the payload of a NaN that pooling
// makes of two NaNs.
#ifndef GATHERD_CORE_ROWS_ROW_KERNEL_LEVELS_H_
#define GATHERD_CORE_ROWS_ROW_KERNEL_LEVELS_H_

#include <vector>

#include "core/rows/row_kernels.h"

namespace gatherd {

// Arrays are indexed by RowKernelIndex(type), `convert` by from and to.
struct RowKernels {
  const char* name;
  ConvertRowFn convert[kNumDataTypes][kNumDataTypes];
  AddWeightedRowFn add_weighted[kNumDataTypes];
  AddRowFn add[kNumDataTypes];
  void (*divide)(float* values, float divisor, size_t dim);
};

constexpr int RowKernelIndex(DataType type) {
  return static_cast<int>(type) - 1;
}

// Those that this machine can run, narrowest first; never empty.
std::vector<const RowKernels*> SupportedRowKernels();

}  // namespace gatherd

#endif  // GATHERD_CORE_ROWS_ROW_KERNEL_LEVELS_H_
