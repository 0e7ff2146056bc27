// Element types of rows and the byte layout of one row.
//
// A row of `dim` elements is stored and sent as dim * ElementBytes(type)
// little-endian bytes without padding. An int8 row is quantised row-wise and
// carries its float32 scale behind the elements: dim + 4 bytes, the value of
// an element is element * scale. CPU, GPU and wire use this one layout.
#ifndef GATHERD_CORE_BASE_DATA_TYPE_H_
#define GATHERD_CORE_BASE_DATA_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gatherd {

// The numbers are those of gatherd.v1.DataType.
enum class DataType : uint8_t {
  kFloat32 = 1,
  kFloat16 = 2,  // IEEE binary16
  kBFloat16 = 3,
  kInt8 = 4,  // row-wise symmetric, with a float32 scale a row
};

inline constexpr int kNumDataTypes = 4;
inline constexpr uint32_t kMaxDim = 8192;

constexpr size_t ElementBytes(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return 4;
    case DataType::kFloat16:
      return 2;
    case DataType::kBFloat16:
      return 2;
    case DataType::kInt8:
      return 1;
  }
  return 0;
}

// Bytes of one row, scale included. At most 32 KiB, as dim <= kMaxDim.
constexpr size_t RowBytes(DataType type, uint32_t dim) {
  return dim * ElementBytes(type) + (type == DataType::kInt8 ? 4 : 0);
}

// "float32", "float16", "bfloat16", "int8": the words of configuration.
std::string_view DataTypeName(DataType type);
std::optional<DataType> ParseDataType(std::string_view name);

}  // namespace gatherd

#endif  // GATHERD_CORE_BASE_DATA_TYPE_H_
