// Conversion and pooling of single rows on the CPU. The functions are looked up
// once per table or batch and then called per row; each runs at the widest
// vector instructions that this machine has.
//
// Conversions go by way of float32 and round to nearest, ties to even; overflow
// gives infinity; NaN stays NaN and becomes quiet. A type to itself keeps every
// bit. To int8: scale = max|x| / 127 over the finite elements, 0 if there are
// none or if it is too small for float32; element = round(x / scale) within
// +-127, and 0 for scale 0; NaN -> 0, infinities -> +-127.
//
// Rows need no alignment. `in` and `out` may not overlap.
#ifndef GATHERD_CORE_ROWS_ROW_KERNELS_H_
#define GATHERD_CORE_ROWS_ROW_KERNELS_H_

#include <cstddef>

#include "core/base/data_type.h"

namespace gatherd {

// out: RowBytes(to, dim) bytes.
using ConvertRowFn = void (*)(const std::byte* in, std::byte* out, size_t dim);
ConvertRowFn GetConvertRow(DataType from, DataType to);

// sum[i] += weight * in[i], product and sum each rounded to float32 (no fused
// multiply-add, so that every machine gives the same bits).
using AddWeightedRowFn = void (*)(const std::byte* in, float weight, float* sum,
                                  size_t dim);
AddWeightedRowFn GetAddWeightedRow(DataType from);

// sum[i] += in[i].
using AddRowFn = void (*)(const std::byte* in, float* sum, size_t dim);
AddRowFn GetAddRow(DataType from);

// values[i] /= divisor.
void DivideRow(float* values, float divisor, size_t dim);

// "avx512", "avx2" or "baseline": what the functions above use here.
const char* RowKernelsName();

}  // namespace gatherd

#endif  // GATHERD_CORE_ROWS_ROW_KERNELS_H_
