#include "client/table_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"

namespace gatherd::client {
namespace {

template <typename T>
T Read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float FromFloat16(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1f;
  const uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) return FromBits(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) {
    return FromBits(sign | (exponent + 112) << 23 | fraction << 13);
  }
  const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
  return sign != 0 ? -magnitude : magnitude;
}

float FromBFloat16(uint16_t bits) {
  return FromBits(static_cast<uint32_t>(bits) << 16);
}

}  // namespace

absl::Status TableRows::CheckSizes(const Fields& fields, uint64_t num_bytes) {
  if (ElementBytes(fields.data_type) == 0) {
    return absl::InternalError(absl::StrCat("reply: data_type ",
                                            static_cast<int>(fields.data_type),
                                            " is unknown to this client"));
  }
  if (fields.dim == 0 || fields.dim > kMaxDim) {
    return absl::InternalError(absl::StrCat("reply: dim is ", fields.dim,
                                            "; allowed is 1 to ", kMaxDim));
  }
  const uint64_t expected =
      uint64_t{fields.num_rows} * RowBytes(fields.data_type, fields.dim);
  if (num_bytes != expected) {
    return absl::InternalError(absl::StrCat("reply: values has ", num_bytes,
                                            " bytes; ", fields.num_rows,
                                            " rows have ", expected));
  }
  return absl::OkStatus();
}

absl::StatusOr<TableRows> TableRows::Create(const Fields& fields) {
  uint64_t num_bytes = fields.values.size();
  for (const RowRun& run : fields.runs) num_bytes += run.bytes.size();
  if (absl::Status status = CheckSizes(fields, num_bytes); !status.ok()) {
    return status;
  }
  return TableRows(fields);
}

bool TableRows::IsMissing(size_t key_index) const {
  const size_t byte = key_index >> 3;
  if (byte >= fields_.missing.size()) return false;
  const auto bits = static_cast<unsigned char>(fields_.missing[byte]);
  return (bits >> (key_index & 7) & 1) != 0;
}

absl::Span<const std::byte> TableRows::Whole() const {
  return {reinterpret_cast<const std::byte*>(fields_.values.data()),
          fields_.values.size()};
}

absl::Span<const std::byte> TableRows::row(size_t i) const {
  if (fields_.runs.empty())
    return Whole().subspan(i * row_bytes(), row_bytes());
  const RowRun& run = *std::prev(std::upper_bound(
      fields_.runs.begin(), fields_.runs.end(), i,
      [](size_t row, const RowRun& other) { return row < other.first_row; }));
  return run.bytes.subspan((i - run.first_row) * row_bytes(), row_bytes());
}

void TableRows::CopyRows(std::byte* rows) const {
  VisitRuns([&](uint32_t first_row, absl::Span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), rows + first_row * row_bytes());
  });
}

void TableRows::ReadFloats(size_t i, float* values) const {
  const std::byte* from = row(i).data();
  const size_t num = dim();
  switch (data_type()) {
    case DataType::kFloat32:
      std::memcpy(values, from, num * sizeof(float));
      return;
    case DataType::kFloat16:
      for (size_t j = 0; j < num; ++j) {
        values[j] = FromFloat16(Read<uint16_t>(from + 2 * j));
      }
      return;
    case DataType::kBFloat16:
      for (size_t j = 0; j < num; ++j) {
        values[j] = FromBFloat16(Read<uint16_t>(from + 2 * j));
      }
      return;
    case DataType::kInt8: {
      const float scale = Read<float>(from + num);
      for (size_t j = 0; j < num; ++j) {
        values[j] = static_cast<float>(Read<int8_t>(from + j)) * scale;
      }
      return;
    }
  }
}

std::vector<float> TableRows::Floats(size_t i) const {
  std::vector<float> values(dim());
  ReadFloats(i, values.data());
  return values;
}

}  // namespace gatherd::client
