// Every level that this machine can run against the plain reference, bit by
// bit: for each kernel, rows of many lengths at odd addresses, filled with the
// elements on which rounding can go wrong.
#include "core/rows/row_kernel_levels.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "testing/reference_rows.h"

namespace gatherd {
namespace {

constexpr DataType kTypes[] = {DataType::kFloat32, DataType::kFloat16,
                               DataType::kBFloat16, DataType::kInt8};
constexpr uint32_t kDims[] = {1,  2,  3,  4,   5,   7,   8,   15,
                              16, 17, 23, 31,  32,  33,  47,  48,
                              63, 64, 65, 100, 127, 300, 8192};
using Bytes = std::vector<std::byte>;

template <typename T>
void Append(Bytes& bytes, T value) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(value));
}

uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// A copy of a row, or a place for one, at an address that fits no type, with
// marks around it that must survive.
class OddRow {
 public:
  explicit OddRow(const Bytes& row) : OddRow(row.size()) {
    std::memcpy(data(), row.data(), row.size());
  }
  explicit OddRow(size_t num_bytes)
      : bytes_(num_bytes + 2 * kMargin + 1, kMark) {}

  std::byte* data() { return bytes_.data() + kMargin + 1; }
  Bytes row() const {
    return {bytes_.begin() + kMargin + 1, bytes_.end() - kMargin};
  }
  bool IntactAround() const {
    for (size_t i = 0; i < kMargin; ++i) {
      if (bytes_[i] != kMark || bytes_[bytes_.size() - 1 - i] != kMark) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr size_t kMargin = 64;
  static constexpr std::byte kMark{0xa5};
  Bytes bytes_;
};

std::vector<float> RandomFloats(std::mt19937& random, size_t count) {
  std::vector<float> values(count);
  for (float& value : values) {
    const auto bits = static_cast<uint32_t>(random());
    std::memcpy(&value, &bits, sizeof(value));
    // All bits at random one time in two, else of the size of embeddings.
    if (random() % 2 == 0) {
      value = static_cast<float>(static_cast<int32_t>(bits)) * 0x1p-31F;
    }
  }
  return values;
}

// A row of `type` of any bits at all; a scale that is mostly a sane one.
Bytes RandomRow(std::mt19937& random, DataType type, uint32_t dim) {
  Bytes row;
  if (type == DataType::kFloat32) {
    for (const float value : RandomFloats(random, dim)) Append(row, value);
    return row;
  }
  while (row.size() < RowBytes(type, dim)) {
    row.push_back(static_cast<std::byte>(random()));
  }
  if (type == DataType::kInt8 && random() % 4 != 0) {
    const float scale = static_cast<float>(random() % 1000) * 0x1p-17F;
    std::memcpy(row.data() + dim, &scale, sizeof(scale));
  }
  return row;
}

void CheckConvert(const RowKernels& level, const Bytes& row, DataType from,
                  DataType to, uint32_t dim) {
  OddRow in(row);
  OddRow out(RowBytes(to, dim));
  level.convert[RowKernelIndex(from)][RowKernelIndex(to)](in.data(), out.data(),
                                                          dim);
  const Bytes expected = ReferenceConvert(row.data(), from, to, dim);
  INFO(level.name << ": " << DataTypeName(from) << " to " << DataTypeName(to)
                  << ", dim " << dim);
  // One CHECK a row: bytes in a message would be unreadable.
  const bool same = out.row() == expected;
  CHECK(same);
  CHECK(out.IntactAround());
}

// All of `elements`, in rows of an odd length.
void CheckConvertAll(const RowKernels& level, const Bytes& elements,
                     DataType from) {
  constexpr uint32_t kDim = 1021;
  const size_t row_bytes = kDim * ElementBytes(from);
  for (size_t begin = 0; begin < elements.size(); begin += row_bytes) {
    Bytes row(row_bytes);
    std::memcpy(row.data(), elements.data() + begin,
                std::min(row_bytes, elements.size() - begin));
    for (const DataType to : kTypes) CheckConvert(level, row, from, to, kDim);
  }
}

TEST_CASE("Every level converts all 65536 halfs and bfloats") {
  Bytes elements;
  for (uint32_t i = 0; i < 65536; ++i) {
    Append(elements, static_cast<uint16_t>(i));
  }
  for (const RowKernels* level : SupportedRowKernels()) {
    CheckConvertAll(*level, elements, DataType::kFloat16);
    CheckConvertAll(*level, elements, DataType::kBFloat16);
  }
}

// Every narrow value, the midpoint between it and the next, and the floats on
// either side of both.
Bytes RoundingBoundaries(DataType narrow) {
  Bytes elements;
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const uint32_t value =
        BitsOf(narrow == DataType::kFloat16 ? ReferenceHalfToFloat(bits)
                                            : ReferenceBFloat16ToFloat(bits));
    // Mantissas of 10 and 7 bits out of 23; of subnormal halfs the spacing is
    // fixed, and covered by the halves of 2^-24 below.
    const uint32_t half_step =
        narrow == DataType::kFloat16 ? 1U << 12 : 1U << 15;
    for (const uint32_t offset : {0U, half_step}) {
      for (const uint32_t side : {0U, 1U, ~0U}) {
        Append(elements, value + offset + side);
      }
    }
  }
  for (uint32_t i = 0; i < 4096; ++i) {
    const uint32_t value = BitsOf(static_cast<float>(i) * 0x1p-25F);
    for (const uint32_t side : {0U, 1U, ~0U}) {
      Append(elements, value + side);
      Append(elements, (value + side) | 0x80000000);
    }
  }
  return elements;
}

TEST_CASE("Every level rounds float32 right at every boundary") {
  const DataType narrow = GENERATE(DataType::kFloat16, DataType::kBFloat16);
  const Bytes elements = RoundingBoundaries(narrow);
  for (const RowKernels* level : SupportedRowKernels()) {
    CheckConvertAll(*level, elements, DataType::kFloat32);
  }
}

TEST_CASE("Every level converts random rows of every length and type") {
  std::mt19937 random(1);
  for (const RowKernels* level : SupportedRowKernels()) {
    for (const uint32_t dim : kDims) {
      const int num_rows = dim > 1000 ? 2 : 20;
      for (int i = 0; i < num_rows; ++i) {
        for (const DataType from : kTypes) {
          const Bytes row = RandomRow(random, from, dim);
          for (const DataType to : kTypes) {
            CheckConvert(*level, row, from, to, dim);
          }
        }
      }
    }
  }
}

TEST_CASE("Every level quantises rows of any magnitude alike") {
  std::mt19937 random(2);
  for (const RowKernels* level : SupportedRowKernels()) {
    // From rows of subnormal numbers to rows near the largest.
    for (int power = -149; power <= 127; ++power) {
      Bytes row;
      constexpr uint32_t kDim = 37;
      for (uint32_t i = 0; i < kDim; ++i) {
        const double part = static_cast<int32_t>(random()) * 0x1p-31;
        Append(row, static_cast<float>(std::ldexp(part, power)));
      }
      CheckConvert(*level, row, DataType::kFloat32, DataType::kInt8, kDim);
      CheckConvert(*level, Bytes(4 * kDim), DataType::kFloat32, DataType::kInt8,
                   kDim);
    }
  }
}

// Equal bits, or both NaN: which payload survives when two NaNs meet depends
// on the order in which an instruction names them.
bool SameSums(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (BitsOf(a[i]) != BitsOf(b[i])) return false;
  }
  return true;
}

TEST_CASE("Every level adds up rows like the reference") {
  std::mt19937 random(3);
  for (const RowKernels* level : SupportedRowKernels()) {
    for (const uint32_t dim : kDims) {
      for (const DataType type : kTypes) {
        constexpr int kNumRows = 5;
        std::vector<Bytes> rows;
        std::vector<const std::byte*> pointers;
        for (int i = 0; i < kNumRows; ++i) {
          rows.push_back(RandomRow(random, type, dim));
        }
        for (const Bytes& row : rows) pointers.push_back(row.data());
        const std::vector<float> weights = {1.0F, -0.3F, 0x1.8p-70F, 1e30F, 7};

        std::vector<float> plain(dim);
        std::vector<float> weighted(dim);
        for (int i = 0; i < kNumRows; ++i) {
          OddRow row(rows[i]);
          level->add[RowKernelIndex(type)](row.data(), plain.data(), dim);
          level->add_weighted[RowKernelIndex(type)](row.data(), weights[i],
                                                    weighted.data(), dim);
        }
        INFO(level->name << ": " << DataTypeName(type) << ", dim " << dim);
        const bool plain_same =
            SameSums(plain, ReferenceSum(pointers, {}, type, dim));
        CHECK(plain_same);
        const bool weighted_same =
            SameSums(weighted, ReferenceSum(pointers, weights, type, dim));
        CHECK(weighted_same);
      }
    }
  }
}

TEST_CASE("Every level divides rows and writes nothing beside them") {
  std::mt19937 random(4);
  for (const RowKernels* level : SupportedRowKernels()) {
    for (const uint32_t dim : kDims) {
      for (const float divisor : {3.0F, -1e-30F, 0x1p-149F, 1e38F}) {
        const Bytes row = RandomRow(random, DataType::kFloat32, dim);
        std::vector<float> expected =
            ReferenceToFloats(row.data(), DataType::kFloat32, dim);
        for (float& value : expected) value /= divisor;
        std::vector<float> values(dim + 2, 77.0F);
        std::memcpy(values.data() + 1, row.data(), row.size());
        level->divide(values.data() + 1, divisor, dim);
        CHECK((values.front() == 77.0F && values.back() == 77.0F));
        values.erase(values.begin());
        values.pop_back();
        const bool same = SameSums(values, expected);
        INFO(level->name << ", dim " << dim);
        CHECK(same);
      }
    }
  }
}

TEST_CASE("The functions handed out are those of the widest level") {
  const RowKernels& widest = *SupportedRowKernels().back();
  CHECK(RowKernelsName() == widest.name);
  for (const DataType from : kTypes) {
    CHECK(GetAddRow(from) == widest.add[RowKernelIndex(from)]);
    CHECK(GetAddWeightedRow(from) == widest.add_weighted[RowKernelIndex(from)]);
    for (const DataType to : kTypes) {
      CHECK(GetConvertRow(from, to) ==
            widest.convert[RowKernelIndex(from)][RowKernelIndex(to)]);
    }
  }
}

}  // namespace
}  // namespace gatherd
