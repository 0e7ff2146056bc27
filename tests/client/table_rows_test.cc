#include "client/table_rows.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>

namespace gatherd::client {
namespace {

std::string Bytes(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text.push_back(static_cast<char>(byte));
  return text;
}

TableRows Rows(DataType type, uint32_t dim, const std::string& values) {
  TableRows::Fields fields;
  fields.data_type = type;
  fields.dim = dim;
  fields.num_rows = static_cast<uint32_t>(values.size() / RowBytes(type, dim));
  fields.values = values;
  return *TableRows::Create(fields);
}

}  // namespace

TEST_CASE("Float16 elements of every kind are read") {
  // 1, -2, the smallest subnormal, the largest number, infinity, -0.
  const std::string values = Bytes(
      {0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b, 0x00, 0x7c, 0x00, 0x80});
  const std::vector<float> floats =
      Rows(DataType::kFloat16, 6, values).Floats(0);
  CHECK(floats[0] == 1.0f);
  CHECK(floats[1] == -2.0f);
  CHECK(floats[2] == std::ldexp(1.0f, -24));
  CHECK(floats[3] == 65504.0f);
  CHECK(floats[4] == std::numeric_limits<float>::infinity());
  CHECK(floats[5] == 0.0f);
  CHECK(std::signbit(floats[5]));
  const std::string nan = Bytes({0x01, 0x7e});
  CHECK(std::isnan(Rows(DataType::kFloat16, 1, nan).Floats(0)[0]));
}

TEST_CASE("Bfloat16 elements are the upper half of float32") {
  const std::string values = Bytes({0x80, 0x3f, 0x49, 0xc0});
  CHECK(Rows(DataType::kBFloat16, 2, values).Floats(0) ==
        std::vector<float>{1.0f, -3.140625f});
}

TEST_CASE("Int8 rows are multiplied by their scale") {
  const std::string values =
      Bytes({127, -127, 1, 0, 0, 0, 0x3f, 1, 2, 3, 0, 0, 0, 0x40});
  const TableRows rows = Rows(DataType::kInt8, 3, values);
  CHECK(rows.num_rows() == 2);
  CHECK(rows.Floats(0) == std::vector<float>{63.5f, -63.5f, 0.5f});
  CHECK(rows.Floats(1) == std::vector<float>{2, 4, 6});
}

TEST_CASE("Replies whose sizes contradict each other are refused") {
  const std::string values(16, '\0');
  TableRows::Fields fields;
  fields.dim = 4;
  fields.num_rows = 1;
  fields.values = values;
  CHECK(TableRows::Create(fields).ok());

  TableRows::Fields wrong = fields;
  wrong.num_rows = 2;
  CHECK(absl::IsInternal(TableRows::Create(wrong).status()));
  wrong = fields;
  wrong.dim = 0;
  CHECK(absl::IsInternal(TableRows::Create(wrong).status()));
  wrong = fields;
  wrong.dim = 0x40000001;  // the product of sizes would wrap at 32 bits
  CHECK(absl::IsInternal(TableRows::Create(wrong).status()));
  wrong = fields;
  wrong.data_type = static_cast<DataType>(9);
  CHECK(absl::IsInternal(TableRows::Create(wrong).status()));
}

TEST_CASE("A key beyond the bits is not missing") {
  const std::string values(4, '\0');
  const std::string missing = Bytes({0x01});
  TableRows::Fields fields;
  fields.dim = 1;
  fields.num_rows = 1;
  fields.values = values;
  fields.missing = missing;
  const TableRows rows = *TableRows::Create(fields);
  CHECK(rows.IsMissing(0));
  CHECK_FALSE(rows.IsMissing(1));
  CHECK_FALSE(rows.IsMissing(1000));
}

}  // namespace gatherd::client
