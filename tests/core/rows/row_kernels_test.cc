// Answers worked out by hand, for the kernels and for the reference that
// row_kernel_levels_test.cc compares every level with.
#include "core/rows/row_kernels.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "testing/reference_rows.h"

namespace gatherd {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

template <typename T>
std::vector<std::byte> RowOf(const std::vector<T>& elements) {
  std::vector<std::byte> row(elements.size() * sizeof(T));
  std::memcpy(row.data(), elements.data(), row.size());
  return row;
}

std::vector<std::byte> Int8RowOf(const std::vector<int8_t>& elements,
                                 float scale) {
  std::vector<std::byte> row = RowOf(elements);
  const std::vector<std::byte> tail = RowOf<float>({scale});
  row.insert(row.end(), tail.begin(), tail.end());
  return row;
}

// The kernel's row, after the reference has given the same.
std::vector<std::byte> Convert(const std::vector<std::byte>& row, DataType from,
                               DataType to, uint32_t dim) {
  std::vector<std::byte> out(RowBytes(to, dim));
  GetConvertRow(from, to)(row.data(), out.data(), dim);
  CHECK(ReferenceConvert(row.data(), from, to, dim) == out);
  return out;
}

TEST_CASE("float32 becomes float16 by rounding to nearest, ties to even") {
  struct Case {
    float value;
    uint16_t half;
  };
  const std::vector<Case> cases = {
      {0.0F, 0x0000},
      {-0.0F, 0x8000},
      {1.0F, 0x3c00},
      {-2.0F, 0xc000},
      {0x1.004p0F, 0x3c01},
      {0x1.002p0F, 0x3c00},     // halfway: to even, down
      {0x1.006p0F, 0x3c02},     // halfway: to even, up
      {0x1.002002p0F, 0x3c01},  // just above halfway
      {0x1.ffep0F, 0x4000},     // carries into the exponent
      {65504.0F, 0x7bff},       // the largest
      {65519.996F, 0x7bff},
      {65520.0F, 0x7c00},  // halfway to what would be next: infinity
      {-1e30F, 0xfc00},
      {kInfinity, 0x7c00},
      {0x1p-14F, 0x0400},      // the least normal number
      {0x1.ff8p-15F, 0x03ff},  // the largest subnormal
      {0x1.ffcp-15F, 0x0400},  // halfway between the two
      {0x1p-24F, 0x0001},
      {0x1p-25F, 0x0000},  // halfway to the least
      {0x1.000002p-25F, 0x0001},
      {0x1.8p-24F, 0x0002},
      {-1e-30F, 0x8000},
  };
  for (const Case& c : cases) {
    CAPTURE(c.value);
    CHECK(Convert(RowOf<float>({c.value}), DataType::kFloat32,
                  DataType::kFloat16, 1) == RowOf<uint16_t>({c.half}));
  }
}

TEST_CASE("float32 becomes bfloat16 by rounding to nearest, ties to even") {
  struct Case {
    float value;
    uint16_t bfloat;
  };
  const std::vector<Case> cases = {
      {0.0F, 0x0000},
      {-1.0F, 0xbf80},
      {0x1.02p0F, 0x3f81},
      {0x1.01p0F, 0x3f80},  // halfway: to even, down
      {0x1.03p0F, 0x3f82},  // halfway: to even, up
      {0x1.010002p0F, 0x3f81},
      {0x1.fep127F, 0x7f7f},      // the largest
      {0x1.fffffep127F, 0x7f80},  // rounds to infinity
      {-kInfinity, 0xff80},
      {0x1p-133F, 0x0001},  // the least subnormal
      {0x1p-134F, 0x0000},
      {0x1.8p-133F, 0x0002},
  };
  for (const Case& c : cases) {
    CAPTURE(c.value);
    CHECK(Convert(RowOf<float>({c.value}), DataType::kFloat32,
                  DataType::kBFloat16, 1) == RowOf<uint16_t>({c.bfloat}));
  }
}

TEST_CASE("Narrow floats widen exactly") {
  CHECK(Convert(RowOf<uint16_t>({0x3555, 0x0001, 0x83ff, 0x7bff, 0xfc00}),
                DataType::kFloat16, DataType::kFloat32,
                5) == RowOf<float>({0x1.554p-2F, 0x1p-24F, -0x1.ff8p-15F,
                                    65504.0F, -kInfinity}));
  CHECK(Convert(RowOf<uint16_t>({0x3f81, 0x0001, 0xff80}), DataType::kBFloat16,
                DataType::kFloat32,
                3) == RowOf<float>({0x1.02p0F, 0x1p-133F, -kInfinity}));
}

TEST_CASE("NaN stays NaN in every floating type") {
  for (DataType from :
       {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16}) {
    // Signalling, with nothing but its lowest bit set: naive cutting off or
    // rounding up would make an infinity or a zero of it.
    std::vector<std::byte> row =
        from == DataType::kFloat32   ? RowOf<uint32_t>({0x7f800001, 0xffffffff})
        : from == DataType::kFloat16 ? RowOf<uint16_t>({0x7c01, 0xffff})
                                     : RowOf<uint16_t>({0x7f81, 0xffff});
    for (DataType to :
         {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16}) {
      CAPTURE(DataTypeName(from), DataTypeName(to));
      const std::vector<float> values =
          ReferenceToFloats(Convert(row, from, to, 2).data(), to, 2);
      CHECK(std::isnan(values[0]));
      CHECK(std::isnan(values[1]));
    }
  }
}

TEST_CASE("A type to itself keeps every bit") {
  const std::vector<std::byte> floats =
      RowOf<uint32_t>({0x7f800001, 0x80000000, 0xffc12345});
  CHECK(Convert(floats, DataType::kFloat32, DataType::kFloat32, 3) == floats);
  const std::vector<std::byte> halfs =
      RowOf<uint16_t>({0x7c01, 0x8000, 0xfe00});
  CHECK(Convert(halfs, DataType::kFloat16, DataType::kFloat16, 3) == halfs);
  CHECK(Convert(halfs, DataType::kBFloat16, DataType::kBFloat16, 3) == halfs);
  const std::vector<std::byte> quantized = Int8RowOf({-128, 127, 0}, kNan);
  CHECK(Convert(quantized, DataType::kInt8, DataType::kInt8, 3) == quantized);
}

TEST_CASE("int8 rows carry the scale of their largest element") {
  // 254 / 127 = 2; 3 / 2 and 1 / 2 are ties.
  CHECK(Convert(RowOf<float>({254, -3, 1, 0, -254, 100}), DataType::kFloat32,
                DataType::kInt8,
                6) == Int8RowOf({127, -2, 0, 0, -127, 50}, 2.0F));
  CHECK(Convert(Int8RowOf({127, -2, 0, -128}, 0.5F), DataType::kInt8,
                DataType::kFloat32, 4) == RowOf<float>({63.5F, -1, 0, -64}));
  // Through float32: 3 * 0.1F rounded, then rounded again.
  CHECK(Convert(Int8RowOf({3}, 0.1F), DataType::kInt8, DataType::kFloat16, 1) ==
        RowOf<uint16_t>({0x34cd}));
}

TEST_CASE("To int8, what is not finite does not count for the scale") {
  CHECK(Convert(RowOf<float>({kNan, kInfinity, -kInfinity, 127, -1}),
                DataType::kFloat32, DataType::kInt8,
                5) == Int8RowOf({0, 127, -127, 127, -1}, 1.0F));
  CHECK(Convert(RowOf<float>({kNan, kInfinity, -kInfinity, -0.0F}),
                DataType::kFloat32, DataType::kInt8,
                4) == Int8RowOf({0, 127, -127, 0}, 0.0F));
}

TEST_CASE("A zero row has scale 0") {
  CHECK(Convert(RowOf<float>({0, -0.0F, 0}), DataType::kFloat32,
                DataType::kInt8, 3) == Int8RowOf({0, 0, 0}, 0.0F));
}

TEST_CASE("Scales below the least normal number stay in range") {
  constexpr float kLeast = 0x1p-149F;
  // 190 / 127 rounds to 1 unit: 190 units would be element 190.
  CHECK(Convert(RowOf<float>({190 * kLeast, -190 * kLeast, 3 * kLeast}),
                DataType::kFloat32, DataType::kInt8,
                3) == Int8RowOf({127, -127, 3}, kLeast));
  // 63 / 127 rounds to 0: nothing may be divided by it.
  CHECK(Convert(RowOf<float>({63 * kLeast, -kLeast, kInfinity}),
                DataType::kFloat32, DataType::kInt8,
                3) == Int8RowOf({0, 0, 127}, 0.0F));
}

TEST_CASE("Rows add up in float32, product and sum rounded one by one") {
  std::vector<float> sum = {1, 10, 0};
  GetAddRow(DataType::kFloat16)(RowOf<uint16_t>({0x3c00, 0xc000, 0}).data(),
                                sum.data(), 3);
  CHECK(sum == std::vector<float>{2, 8, 0});
  GetAddWeightedRow(DataType::kInt8)(Int8RowOf({4, -2, 1}, 0.5F).data(), 10.0F,
                                     sum.data(), 3);
  CHECK(sum == std::vector<float>{22, -2, 5});
  DivideRow(sum.data(), 4.0F, 3);
  CHECK(sum == std::vector<float>{5.5F, -0.5F, 1.25F});

  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: fused, the last bit would survive.
  constexpr float kValue = 0x1.001p0F;
  std::vector<float> rest(1, -0x1.002p0F);
  GetAddWeightedRow(DataType::kFloat32)(RowOf<float>({kValue}).data(), kValue,
                                        rest.data(), 1);
  CHECK(rest[0] == 0.0F);
}

TEST_CASE("The reference pools by hand-made answers") {
  const std::vector<std::byte> a = RowOf<float>({1, 2});
  const std::vector<std::byte> b = RowOf<float>({10, -20});
  const std::vector<const std::byte*> rows = {a.data(), b.data()};
  using Row = std::vector<float>;
  constexpr DataType kType = DataType::kFloat32;
  CHECK(ReferenceSum(rows, {}, kType, 2) == Row{11, -18});
  CHECK(ReferenceSum(rows, {2, 0.5F}, kType, 2) == Row{7, -6});
  CHECK(ReferenceMean(rows, {}, kType, 2) == Row{5.5F, -9});
  CHECK(ReferenceMean(rows, {3, 1}, kType, 2) == Row{3.25F, -3.5F});
  CHECK(ReferenceMean(rows, {1, -1}, kType, 2) == Row{0, 0});
  CHECK(ReferenceMean({}, {}, kType, 2) == Row{0, 0});
}

}  // namespace
}  // namespace gatherd
