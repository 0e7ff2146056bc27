// Rows converted and pooled the plain way, one element at a time and in double
// where that makes it obviously right: what every fast version is tested
// against.
#ifndef GATHERD_TESTING_REFERENCE_ROWS_H_
#define GATHERD_TESTING_REFERENCE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/data_type.h"

namespace gatherd {

float ReferenceHalfToFloat(uint16_t half);
float ReferenceBFloat16ToFloat(uint16_t bfloat);
// To nearest, ties to even; overflow gives infinity. A NaN keeps its sign and
// the payload bits that there is room for, and becomes quiet.
uint16_t ReferenceFloatToHalf(float value);
uint16_t ReferenceFloatToBFloat16(float value);

// The elements of `row`, which holds RowBytes(type, dim) bytes, as float32.
std::vector<float> ReferenceToFloats(const std::byte* row, DataType type,
                                     size_t dim);

// RowBytes(type, values.size()) bytes.
std::vector<std::byte> ReferenceFromFloats(const std::vector<float>& values,
                                           DataType type);

// The same bytes if the types are the same, else by way of float32.
std::vector<std::byte> ReferenceConvert(const std::byte* row, DataType from,
                                        DataType to, size_t dim);

// One bag: in order, each row times its weight (1 if `weights` is empty) is
// rounded to float32 and added to the float32 sum, which starts at 0.
std::vector<float> ReferenceSum(const std::vector<const std::byte*>& rows,
                                const std::vector<float>& weights,
                                DataType type, size_t dim);

// The sum divided by the sum of weights, itself added up in float32 in order;
// zeros for no rows, or for weights that sum to 0.
std::vector<float> ReferenceMean(const std::vector<const std::byte*>& rows,
                                 const std::vector<float>& weights,
                                 DataType type, size_t dim);

}  // namespace gatherd

#endif  // GATHERD_TESTING_REFERENCE_ROWS_H_
