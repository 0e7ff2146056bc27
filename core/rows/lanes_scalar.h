// One element at a time: the lanes of any machine, and of the odd elements
// that are left over where lanes are eight wide. Written without branches, so
// that a compiler can vectorise loops over them.
//
// What lanes are: row_kernels_level.cc works on Floats, a group of kWidth
// elements as float32, and leaves to a Lanes type how they are loaded and
// stored. Pointers need no alignment. Every Lanes type gives the same bits.
//
// Everything is compiled once for each level, in a namespace of the level's
// name: were a function shared, the linker might keep the copy that uses
// instructions this machine has not got. For the same reason nothing here
// calls inline functions of other headers.
#ifndef GATHERD_CORE_ROWS_LANES_SCALAR_H_
#define GATHERD_CORE_ROWS_LANES_SCALAR_H_

#include <cstddef>
#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#define GATHERD_LANES_INLINE inline __attribute__((always_inline))
#define GATHERD_LANES_INLINE_LAMBDA __attribute__((always_inline))

namespace gatherd::GATHERD_ROW_LEVEL {

template <typename T>
GATHERD_LANES_INLINE T LoadAs(const std::byte* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof(value));
  return value;
}

template <typename T>
GATHERD_LANES_INLINE void StoreAs(std::byte* to, T value) {
  __builtin_memcpy(to, &value, sizeof(value));
}

GATHERD_LANES_INLINE uint32_t BitsOf(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

GATHERD_LANES_INLINE float FloatOf(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

inline constexpr uint32_t kInfinityBits = 0x7f800000;
inline constexpr uint32_t kMagnitudeBits = 0x7fffffff;

// Exact. A signalling NaN becomes quiet, as F16C makes it.
GATHERD_LANES_INLINE float HalfToFloat(uint16_t half) {
#if defined(__F16C__)
  return _cvtsh_ss(half);
#else
  const uint32_t sign = (half & 0x8000U) << 16;
  const uint32_t magnitude = (half & 0x7fffU) << 13;
  const uint32_t normal = magnitude + (112U << 23);  // 112 = 127 - 15
  // The mantissa of a subnormal number counts units of 2^-24: put it below
  // 2^-14, whose last place that is, and take 2^-14 away again.
  const uint32_t subnormal =
      BitsOf(FloatOf(magnitude + (113U << 23)) - FloatOf(113U << 23));
  const uint32_t is_nan = magnitude > 0x0f800000 ? 0x00400000U : 0U;
  const uint32_t not_finite = magnitude | kInfinityBits | is_nan;
  uint32_t bits = magnitude < (1U << 23) ? subnormal : normal;
  bits = magnitude >= 0x0f800000 ? not_finite : bits;
  return FloatOf(sign | bits);
#endif
}

GATHERD_LANES_INLINE uint16_t FloatToHalf(float value) {
#if defined(__F16C__)
  return _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT);
#else
  const uint32_t bits = BitsOf(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t magnitude = bits & kMagnitudeBits;
  // From 65520 on everything rounds to infinity, which 65536 also is: its
  // exponent is one above the largest.
  const uint32_t capped = magnitude < 0x47800000 ? magnitude : 0x47800000;
  const uint32_t normal =
      (capped + 0xfff + ((capped >> 13) & 1) - (112U << 23)) >> 13;
  // Adding 0.5, whose last place is 2^-24, rounds to units of 2^-24.
  const uint32_t subnormal = BitsOf(FloatOf(magnitude) + 0.5F) - BitsOf(0.5F);
  const uint32_t nan = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  uint32_t half = magnitude < 0x38800000 ? subnormal : normal;  // 2^-14
  half = magnitude > kInfinityBits ? nan : half;
  return static_cast<uint16_t>(sign | half);
#endif
}

GATHERD_LANES_INLINE uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = BitsOf(value);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40;
  const bool is_nan = (bits & kMagnitudeBits) > kInfinityBits;
  return static_cast<uint16_t>(is_nan ? nan : rounded);
}

// A quotient x / scale as an int8 element: rounded, within +-127, NaN is 0.
GATHERD_LANES_INLINE int8_t QuotientToInt8(float quotient) {
  float value = quotient > 127.0F ? 127.0F : quotient;
  value = value < -127.0F ? -127.0F : value;
  value = quotient != quotient ? 0.0F : value;
  // 1.5 * 2^23: one is its last place, so that adding it rounds to integers.
  constexpr float kRounder = 12582912.0F;
  const uint32_t integer = BitsOf(value + kRounder) - BitsOf(kRounder);
  return static_cast<int8_t>(integer);
}

struct ScalarLanes {
  static constexpr size_t kWidth = 1;
  using Floats = float;
  using Ints = int32_t;

  static GATHERD_LANES_INLINE Floats Broadcast(float value) { return value; }

  static GATHERD_LANES_INLINE Floats LoadFloat32(const std::byte* from) {
    return LoadAs<float>(from);
  }
  static GATHERD_LANES_INLINE Floats LoadFloat16(const std::byte* from) {
    return HalfToFloat(LoadAs<uint16_t>(from));
  }
  static GATHERD_LANES_INLINE Floats LoadBFloat16(const std::byte* from) {
    return FloatOf(uint32_t{LoadAs<uint16_t>(from)} << 16);
  }
  // Elements without their scale.
  static GATHERD_LANES_INLINE Floats LoadInt8(const std::byte* from) {
    return static_cast<float>(LoadAs<int8_t>(from));
  }

  static GATHERD_LANES_INLINE void StoreFloat32(std::byte* to, Floats values) {
    StoreAs(to, values);
  }
  static GATHERD_LANES_INLINE void StoreFloat16(std::byte* to, Floats values) {
    StoreAs(to, FloatToHalf(values));
  }
  static GATHERD_LANES_INLINE void StoreBFloat16(std::byte* to, Floats values) {
    StoreAs(to, FloatToBFloat16(values));
  }
  // Of quotients x / scale.
  static GATHERD_LANES_INLINE void StoreInt8(std::byte* to, Floats quotients) {
    StoreAs(to, QuotientToInt8(quotients));
  }

  // The bits of |x|, which compare like the numbers; 0 for NaN and infinity.
  static GATHERD_LANES_INLINE Ints FiniteMagnitude(Floats values) {
    const uint32_t magnitude = BitsOf(values) & kMagnitudeBits;
    return static_cast<int32_t>(magnitude < kInfinityBits ? magnitude : 0);
  }
  static GATHERD_LANES_INLINE Ints Max(Ints a, Ints b) { return a > b ? a : b; }
  static GATHERD_LANES_INLINE int32_t Largest(Ints values) { return values; }

  // Calls step(lanes, i) for elements i ... dim-1, fewer than kWidth.
  template <typename Step>
  static GATHERD_LANES_INLINE void ForTail(size_t, size_t, Step) {}
};

}  // namespace gatherd::GATHERD_ROW_LEVEL

#endif  // GATHERD_CORE_ROWS_LANES_SCALAR_H_
