#include "core/rows/row_kernels.h"

#include "core/rows/row_kernel_levels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace gatherd {

// Each is defined by row_kernels_level.cc, compiled for that level.
namespace baseline {
extern const RowKernels kRowKernels;
}  // namespace baseline

#if defined(__x86_64__)

namespace avx2 {
extern const RowKernels kRowKernels;
}  // namespace avx2

namespace avx512 {
extern const RowKernels kRowKernels;
}  // namespace avx512

namespace {

bool HasF16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

// __builtin_cpu_supports also asks whether the kernel saves the registers.
bool HasAvx2() { return __builtin_cpu_supports("avx2") && HasF16c(); }

bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

}  // namespace

std::vector<const RowKernels*> SupportedRowKernels() {
  std::vector<const RowKernels*> levels = {&baseline::kRowKernels};
  if (HasAvx2()) levels.push_back(&avx2::kRowKernels);
  if (HasAvx512()) levels.push_back(&avx512::kRowKernels);
  return levels;
}

#else

std::vector<const RowKernels*> SupportedRowKernels() {
  return {&baseline::kRowKernels};
}

#endif

namespace {

const RowKernels& Widest() {
  static const RowKernels& kernels = *SupportedRowKernels().back();
  return kernels;
}

}  // namespace

ConvertRowFn GetConvertRow(DataType from, DataType to) {
  return Widest().convert[RowKernelIndex(from)][RowKernelIndex(to)];
}

AddWeightedRowFn GetAddWeightedRow(DataType from) {
  return Widest().add_weighted[RowKernelIndex(from)];
}

AddRowFn GetAddRow(DataType from) { return Widest().add[RowKernelIndex(from)]; }

void DivideRow(float* values, float divisor, size_t dim) {
  Widest().divide(values, divisor, dim);
}

const char* RowKernelsName() { return Widest().name; }

}  // namespace gatherd
