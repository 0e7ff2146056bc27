#include "tests/gpu/expected_rows.h"

#include <cstring>

#include "core/base/data_type.h"
#include "testing/reference_rows.h"

namespace gatherd::kernels {
namespace {

DataType AsDataType(ElementType type) { return static_cast<DataType>(type); }

// Bits of one element, NaNs made one.
uint32_t ElementBits(const std::byte* element, ElementType type) {
  uint32_t bits = 0;
  switch (type) {
    case ElementType::kFloat32:
      std::memcpy(&bits, element, 4);
      return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits;
    case ElementType::kFloat16:
      std::memcpy(&bits, element, 2);
      return (bits & 0x7fff) > 0x7c00 ? 0x7fff : bits;
    case ElementType::kBFloat16:
      std::memcpy(&bits, element, 2);
      return (bits & 0x7fff) > 0x7f80 ? 0x7fff : bits;
    case ElementType::kInt8:
      std::memcpy(&bits, element, 1);
  }
  return bits;
}

}  // namespace

bool SameRow(const Question& q, const std::byte* a, const std::byte* b) {
  const ElementType type = q.output_type;
  const uint32_t dim = q.table->options().dim;
  const size_t row_bytes = RowBytes(type, dim);
  if (std::memcmp(a, b, row_bytes) == 0) return true;
  if (q.pooling == PoolingMode::kNone && type == q.table->options().type) {
    return false;
  }
  const size_t size = (row_bytes - (type == ElementType::kInt8 ? 4 : 0)) / dim;
  for (uint32_t i = 0; i < dim; i++) {
    if (ElementBits(a + i * size, type) != ElementBits(b + i * size, type)) {
      return false;
    }
  }
  return type != ElementType::kInt8 ||
         ElementBits(a + dim, ElementType::kFloat32) ==
             ElementBits(b + dim, ElementType::kFloat32);
}

size_t NumOutputRows(const Question& q) {
  return q.pooling == PoolingMode::kNone ? q.keys.size() : q.offsets.size();
}

std::vector<std::byte> ExpectedRow(const Question& q, size_t i) {
  const DataType from = AsDataType(q.table->options().type);
  const DataType to = AsDataType(q.output_type);
  const uint32_t dim = q.table->options().dim;
  if (q.pooling == PoolingMode::kNone) {
    return ReferenceConvert(q.table->RowOf(q.keys[i]), from, to, dim);
  }
  const size_t end =
      i + 1 < q.offsets.size() ? q.offsets[i + 1] : q.keys.size();
  std::vector<const std::byte*> rows;
  std::vector<float> weights;
  for (size_t k = q.offsets[i]; k < end; k++) {
    rows.push_back(q.table->RowOf(q.keys[k]));
    if (!q.weights.empty()) weights.push_back(q.weights[k]);
  }
  return ReferenceFromFloats(q.pooling == PoolingMode::kSum
                                 ? ReferenceSum(rows, weights, from, dim)
                                 : ReferenceMean(rows, weights, from, dim),
                             to);
}

}  // namespace gatherd::kernels
