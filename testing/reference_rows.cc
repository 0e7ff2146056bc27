#include "testing/reference_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gatherd {
namespace {

template <typename To, typename From>
To BitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

template <typename T>
T ElementAt(const std::byte* row, size_t index) {
  T element;
  std::memcpy(&element, row + index * sizeof(T), sizeof(T));
  return element;
}

// A binary format with sign, exponent and mantissa as IEEE 754 lays them out.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int all_ones() const { return (1 << exponent_bits) - 1; }
};

constexpr SmallFloat kHalf = {5, 10};
constexpr SmallFloat kBFloat16 = {8, 7};

double Decode(SmallFloat format, uint16_t bits) {
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int exponent = (bits >> format.mantissa_bits) & format.all_ones();
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == format.all_ones()) {
    return sign * std::numeric_limits<double>::infinity();
  }
  // A subnormal number has no hidden bit, and the least exponent.
  const int hidden = exponent == 0 ? 0 : 1 << format.mantissa_bits;
  const int power = std::max(exponent, 1) - format.bias();
  return sign * std::ldexp(hidden + mantissa, power - format.mantissa_bits);
}

// Of anything but NaN.
uint16_t Encode(SmallFloat format, float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const uint16_t infinity =
      static_cast<uint16_t>(format.all_ones() << format.mantissa_bits);
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  // One unit in the last place of numbers as large as this one.
  const int power = std::max(std::ilogb(magnitude), 1 - format.bias());
  const double unit = std::ldexp(1.0, power - format.mantissa_bits);
  // nearbyint rounds to nearest, ties to even; the division is exact.
  const double rounded = std::nearbyint(magnitude / unit) * unit;
  if (rounded >= std::ldexp(1.0, format.all_ones() - format.bias())) {
    return sign | infinity;
  }
  const int least = 1 - format.bias();
  const int new_power = std::max(std::ilogb(rounded), least);
  const int count = static_cast<int>(
      rounded / std::ldexp(1.0, new_power - format.mantissa_bits));
  // `count` includes the hidden bit, which adds the 1 to the exponent.
  return static_cast<uint16_t>(
      sign | (((new_power - least) << format.mantissa_bits) + count));
}

int8_t Quantize(float value, float scale) {
  if (std::isnan(value)) return 0;
  if (std::isinf(value)) return value > 0 ? 127 : -127;
  if (scale == 0) return 0;
  const float rounded = std::nearbyint(value / scale);
  return static_cast<int8_t>(std::clamp(rounded, -127.0F, 127.0F));
}

std::vector<std::byte> QuantizeRow(const std::vector<float>& values) {
  float largest = 0;
  for (const float value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  const float scale = largest / 127;
  std::vector<std::byte> row(
      RowBytes(DataType::kInt8, static_cast<uint32_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) {
    row[i] = static_cast<std::byte>(Quantize(values[i], scale));
  }
  std::memcpy(row.data() + values.size(), &scale, sizeof(scale));
  return row;
}

}  // namespace

float ReferenceHalfToFloat(uint16_t half) {
  const bool is_nan = (half & 0x7fff) > 0x7c00;
  if (is_nan) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
    const uint32_t payload = static_cast<uint32_t>(half & 0x3ff) << 13;
    return BitCast<float>(sign | 0x7fc00000 | payload);
  }
  return static_cast<float>(Decode(kHalf, half));
}

float ReferenceBFloat16ToFloat(uint16_t bfloat) {
  return BitCast<float>(static_cast<uint32_t>(bfloat) << 16);
}

uint16_t ReferenceFloatToHalf(float value) {
  if (std::isnan(value)) {
    const uint32_t bits = BitCast<uint32_t>(value);
    return static_cast<uint16_t>(((bits >> 16) & 0x8000) | 0x7e00 |
                                 ((bits >> 13) & 0x3ff));
  }
  return Encode(kHalf, value);
}

uint16_t ReferenceFloatToBFloat16(float value) {
  if (std::isnan(value)) {
    const uint32_t bits = BitCast<uint32_t>(value);
    return static_cast<uint16_t>((bits >> 16) | 0x0040);
  }
  return Encode(kBFloat16, value);
}

std::vector<float> ReferenceToFloats(const std::byte* row, DataType type,
                                     size_t dim) {
  float scale = 1;
  if (type == DataType::kInt8) std::memcpy(&scale, row + dim, sizeof(scale));
  std::vector<float> values(dim);
  for (size_t i = 0; i < dim; ++i) {
    switch (type) {
      case DataType::kFloat32:
        values[i] = ElementAt<float>(row, i);
        break;
      case DataType::kFloat16:
        values[i] = ReferenceHalfToFloat(ElementAt<uint16_t>(row, i));
        break;
      case DataType::kBFloat16:
        values[i] = ReferenceBFloat16ToFloat(ElementAt<uint16_t>(row, i));
        break;
      case DataType::kInt8:
        values[i] = static_cast<float>(ElementAt<int8_t>(row, i)) * scale;
        break;
    }
  }
  return values;
}

std::vector<std::byte> ReferenceFromFloats(const std::vector<float>& values,
                                           DataType type) {
  if (type == DataType::kInt8) return QuantizeRow(values);
  std::vector<std::byte> row(
      RowBytes(type, static_cast<uint32_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DataType::kFloat32) {
      std::memcpy(row.data() + 4 * i, &values[i], 4);
    } else {
      const uint16_t element = type == DataType::kFloat16
                                   ? ReferenceFloatToHalf(values[i])
                                   : ReferenceFloatToBFloat16(values[i]);
      std::memcpy(row.data() + 2 * i, &element, 2);
    }
  }
  return row;
}

std::vector<std::byte> ReferenceConvert(const std::byte* row, DataType from,
                                        DataType to, size_t dim) {
  if (from == to) {
    return {row, row + RowBytes(from, static_cast<uint32_t>(dim))};
  }
  return ReferenceFromFloats(ReferenceToFloats(row, from, dim), to);
}

std::vector<float> ReferenceSum(const std::vector<const std::byte*>& rows,
                                const std::vector<float>& weights,
                                DataType type, size_t dim) {
  std::vector<float> sum(dim);
  for (size_t r = 0; r < rows.size(); ++r) {
    const std::vector<float> values = ReferenceToFloats(rows[r], type, dim);
    for (size_t i = 0; i < dim; ++i) {
      // volatile keeps a compiler from fusing the two roundings into one.
      volatile float product = values[i];
      if (!weights.empty()) product = weights[r] * values[i];
      sum[i] += product;
    }
  }
  return sum;
}

std::vector<float> ReferenceMean(const std::vector<const std::byte*>& rows,
                                 const std::vector<float>& weights,
                                 DataType type, size_t dim) {
  float divisor = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    divisor += weights.empty() ? 1.0F : weights[r];
  }
  if (divisor == 0) return std::vector<float>(dim);
  std::vector<float> mean = ReferenceSum(rows, weights, type, dim);
  for (float& value : mean) value /= divisor;
  return mean;
}

}  // namespace gatherd
