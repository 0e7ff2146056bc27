#include "core/base/data_type.h"

namespace gatherd {

std::string_view DataTypeName(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return "float32";
    case DataType::kFloat16:
      return "float16";
    case DataType::kBFloat16:
      return "bfloat16";
    case DataType::kInt8:
      return "int8";
  }
  return "unknown";
}

std::optional<DataType> ParseDataType(std::string_view name) {
  for (DataType type : {DataType::kFloat32, DataType::kFloat16,
                        DataType::kBFloat16, DataType::kInt8}) {
    if (DataTypeName(type) == name) return type;
  }
  return std::nullopt;
}

}  // namespace gatherd
