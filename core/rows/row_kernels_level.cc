// The row kernels, written once over lanes of any width and compiled once for
// each level (see BUILD), with GATHERD_ROW_LEVEL as the level's name.
#ifndef GATHERD_ROW_LEVEL
#define GATHERD_ROW_LEVEL baseline
#endif

#include "core/rows/lanes_scalar.h"
#include "core/rows/row_kernel_levels.h"

#if defined(__AVX512BW__)
#include "core/rows/lanes_avx512.h"
#elif defined(__AVX2__) && defined(__F16C__)
#include "core/rows/lanes_avx2.h"
#endif

#define GATHERD_STRING_OF(x) #x
#define GATHERD_NAME_OF(x) GATHERD_STRING_OF(x)

namespace gatherd::GATHERD_ROW_LEVEL {

extern const RowKernels kRowKernels;

namespace {

#if defined(__AVX512BW__)
using Lanes = Avx512Lanes;
#elif defined(__AVX2__) && defined(__F16C__)
using Lanes = Avx2Lanes;
#else
using Lanes = ScalarLanes;
#endif

// Calls step(lanes, i) so that each element below `dim` has its turn once:
// element i and as many more as `lanes` is wide.
template <typename Step>
GATHERD_LANES_INLINE void ForEachBlock(size_t dim, Step step) {
  size_t i = 0;
  for (; i + Lanes::kWidth <= dim; i += Lanes::kWidth) step(Lanes(), i);
  Lanes::ForTail(i, dim, step);
}

// Elements of a row as float32.
template <DataType type>
class RowReader {
 public:
  GATHERD_LANES_INLINE RowReader(const std::byte* row, size_t dim)
      : row_(row),
        scale_(type == DataType::kInt8 ? LoadAs<float>(row + dim) : 1.0F) {}

  template <typename L>
  GATHERD_LANES_INLINE typename L::Floats Load(L lanes, size_t i) const {
    if constexpr (type == DataType::kFloat32) {
      return lanes.LoadFloat32(row_ + 4 * i);
    } else if constexpr (type == DataType::kFloat16) {
      return lanes.LoadFloat16(row_ + 2 * i);
    } else if constexpr (type == DataType::kBFloat16) {
      return lanes.LoadBFloat16(row_ + 2 * i);
    } else {
      return lanes.LoadInt8(row_ + i) * L::Broadcast(scale_);
    }
  }

 private:
  const std::byte* row_;
  float scale_;
};

template <DataType type, typename L>
GATHERD_LANES_INLINE void Store(L lanes, std::byte* row, size_t i,
                                typename L::Floats values) {
  static_assert(type != DataType::kInt8);
  if constexpr (type == DataType::kFloat32) {
    lanes.StoreFloat32(row + 4 * i, values);
  } else if constexpr (type == DataType::kFloat16) {
    lanes.StoreFloat16(row + 2 * i, values);
  } else {
    lanes.StoreBFloat16(row + 2 * i, values);
  }
}

template <DataType from>
float LargestFinite(const std::byte* in, size_t dim) {
  const RowReader<from> row(in, dim);
  typename Lanes::Ints wide = {};
  int32_t rest = 0;
  ForEachBlock(dim, [&](auto lanes, size_t i) GATHERD_LANES_INLINE_LAMBDA {
    using L = decltype(lanes);
    const auto magnitude = L::FiniteMagnitude(row.Load(lanes, i));
    if constexpr (sizeof(magnitude) == sizeof(wide)) {
      wide = Lanes::Max(wide, magnitude);
    } else {
      rest = ScalarLanes::Max(rest, magnitude);
    }
  });
  const int32_t largest = ScalarLanes::Max(Lanes::Largest(wide), rest);
  return FloatOf(static_cast<uint32_t>(largest));
}

template <DataType from>
void QuantizeRow(const std::byte* in, std::byte* out, size_t dim) {
  const RowReader<from> row(in, dim);
  float scale = LargestFinite<from>(in, dim) / 127.0F;
  StoreAs(out + dim, scale);
  // A scale of 0, which subnormal rows round to as well: dividing by infinity
  // instead makes 0 of every finite element, and NaN of infinities.
  const bool is_zero = scale == 0.0F;
  const auto divisor = is_zero ? FloatOf(kInfinityBits) : scale;
  ForEachBlock(dim, [&](auto lanes, size_t i) GATHERD_LANES_INLINE_LAMBDA {
    using L = decltype(lanes);
    lanes.StoreInt8(out + i, row.Load(lanes, i) / L::Broadcast(divisor));
  });
  if (!is_zero) return;
  for (size_t i = 0; i < dim; ++i) {
    const uint32_t bits = BitsOf(row.Load(ScalarLanes(), i));
    if ((bits & kMagnitudeBits) == kInfinityBits) {
      StoreAs<int8_t>(out + i, bits == kInfinityBits ? 127 : -127);
    }
  }
}

template <DataType from, DataType to>
void ConvertRow(const std::byte* in, std::byte* out, size_t dim) {
  if constexpr (from == to) {
    // Loops of vector loads and stores won 1 ns a row at best, from 64 to 512
    // bytes in the first-level cache, and nothing on rows from memory.
    constexpr size_t kElementBytes = from == DataType::kFloat32 ? 4
                                     : from == DataType::kInt8  ? 1
                                                                : 2;
    constexpr size_t kScaleBytes = from == DataType::kInt8 ? 4 : 0;
    __builtin_memcpy(out, in, dim * kElementBytes + kScaleBytes);
  } else if constexpr (to == DataType::kInt8) {
    QuantizeRow<from>(in, out, dim);
  } else {
    const RowReader<from> row(in, dim);
    ForEachBlock(dim, [&](auto lanes, size_t i) GATHERD_LANES_INLINE_LAMBDA {
      Store<to>(lanes, out, i, row.Load(lanes, i));
    });
  }
}

template <DataType from>
void AddWeightedRow(const std::byte* in, float weight, float* sum, size_t dim) {
  const RowReader<from> row(in, dim);
  auto* sum_row = reinterpret_cast<std::byte*>(sum);
  ForEachBlock(dim, [&](auto lanes, size_t i) GATHERD_LANES_INLINE_LAMBDA {
    using L = decltype(lanes);
    std::byte* place = sum_row + 4 * i;
    const auto product = L::Broadcast(weight) * row.Load(lanes, i);
    lanes.StoreFloat32(place, lanes.LoadFloat32(place) + product);
  });
}

template <DataType from>
void AddRow(const std::byte* in, float* sum, size_t dim) {
  const RowReader<from> row(in, dim);
  auto* sum_row = reinterpret_cast<std::byte*>(sum);
  ForEachBlock(dim, [&](auto lanes, size_t i) GATHERD_LANES_INLINE_LAMBDA {
    std::byte* place = sum_row + 4 * i;
    lanes.StoreFloat32(place, lanes.LoadFloat32(place) + row.Load(lanes, i));
  });
}

void DivideRow(float* values, float divisor, size_t dim) {
  auto* row = reinterpret_cast<std::byte*>(values);
  ForEachBlock(dim, [&](auto lanes, size_t i) GATHERD_LANES_INLINE_LAMBDA {
    using L = decltype(lanes);
    std::byte* place = row + 4 * i;
    lanes.StoreFloat32(place, lanes.LoadFloat32(place) / L::Broadcast(divisor));
  });
}

constexpr DataType kF32 = DataType::kFloat32;
constexpr DataType kF16 = DataType::kFloat16;
constexpr DataType kBf16 = DataType::kBFloat16;
constexpr DataType kI8 = DataType::kInt8;

}  // namespace

const RowKernels kRowKernels = {
    GATHERD_NAME_OF(GATHERD_ROW_LEVEL),
    {{ConvertRow<kF32, kF32>, ConvertRow<kF32, kF16>, ConvertRow<kF32, kBf16>,
      ConvertRow<kF32, kI8>},
     {ConvertRow<kF16, kF32>, ConvertRow<kF16, kF16>, ConvertRow<kF16, kBf16>,
      ConvertRow<kF16, kI8>},
     {ConvertRow<kBf16, kF32>, ConvertRow<kBf16, kF16>,
      ConvertRow<kBf16, kBf16>, ConvertRow<kBf16, kI8>},
     {ConvertRow<kI8, kF32>, ConvertRow<kI8, kF16>, ConvertRow<kI8, kBf16>,
      ConvertRow<kI8, kI8>}},
    {AddWeightedRow<kF32>, AddWeightedRow<kF16>, AddWeightedRow<kBf16>,
     AddWeightedRow<kI8>},
    {AddRow<kF32>, AddRow<kF16>, AddRow<kBf16>, AddRow<kI8>},
    DivideRow,
};

}  // namespace gatherd::GATHERD_ROW_LEVEL
