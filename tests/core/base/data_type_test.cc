#include "core/base/data_type.h"

#include <catch2/catch.hpp>

namespace gatherd {
namespace {

TEST_CASE("Rows have the documented sizes") {
  CHECK(RowBytes(DataType::kFloat32, 100) == 400);
  CHECK(RowBytes(DataType::kFloat16, 3) == 6);
  CHECK(RowBytes(DataType::kBFloat16, 1) == 2);
  CHECK(RowBytes(DataType::kInt8, 5) == 9);
  CHECK(RowBytes(DataType::kFloat32, kMaxDim) == 32768);
}

TEST_CASE("Names of data types read back, others do not") {
  for (DataType type : {DataType::kFloat32, DataType::kFloat16,
                        DataType::kBFloat16, DataType::kInt8}) {
    CHECK(ParseDataType(DataTypeName(type)) == type);
  }
  CHECK(ParseDataType("") == std::nullopt);
  CHECK(ParseDataType("Float32") == std::nullopt);
  CHECK(ParseDataType("float64") == std::nullopt);
}

}  // namespace
}  // namespace gatherd
