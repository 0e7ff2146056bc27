// Sixteen elements at a time with AVX-512 (F, BW, DQ, VL), and 1 to 15 with the
// same instructions under a mask; see lanes_scalar.h for what each function
// does.
#ifndef GATHERD_CORE_ROWS_LANES_AVX512_H_
#define GATHERD_CORE_ROWS_LANES_AVX512_H_

// GCC's own avx512fintrin.h sets these off (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "core/rows/lanes_scalar.h"

namespace gatherd::GATHERD_ROW_LEVEL {

// What whole and masked lanes share: all that stays in registers.
struct Avx512Registers {
  using Floats = __m512;
  using Ints = __m512i;

  static GATHERD_LANES_INLINE Floats Broadcast(float value) {
    return _mm512_set1_ps(value);
  }

  static GATHERD_LANES_INLINE Floats FromHalfs(__m256i halfs) {
    return _mm512_cvtph_ps(halfs);
  }
  static GATHERD_LANES_INLINE Floats FromBFloat16s(__m256i bfloats) {
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(bfloats), 16));
  }
  static GATHERD_LANES_INLINE Floats FromInt8s(__m128i bytes) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
  }

  static GATHERD_LANES_INLINE __m256i ToHalfs(Floats values) {
    return _mm512_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
  }
  // AVX512_BF16 has an instruction for it, but that one flushes subnormals.
  static GATHERD_LANES_INLINE __m256i ToBFloat16s(Floats values) {
    const __m512i bits = _mm512_castps_si512(values);
    const __m512i high = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_srli_epi32(
        _mm512_add_epi32(bits,
                         _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))),
        16);
    const __mmask16 is_nan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(
        _mm512_mask_or_epi32(rounded, is_nan, high, _mm512_set1_epi32(0x40)));
  }
  static GATHERD_LANES_INLINE __m128i ToInt8s(Floats quotients) {
    const __mmask16 ordered =
        _mm512_cmp_ps_mask(quotients, quotients, _CMP_ORD_Q);
    const __m512 clamped = _mm512_max_ps(
        _mm512_maskz_min_ps(ordered, quotients, _mm512_set1_ps(127.0F)),
        _mm512_set1_ps(-127.0F));
    return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(clamped));
  }

  static GATHERD_LANES_INLINE Ints FiniteMagnitude(Floats values) {
    const __m512i magnitude = _mm512_and_si512(
        _mm512_castps_si512(values), _mm512_set1_epi32(kMagnitudeBits));
    return _mm512_maskz_mov_epi32(
        _mm512_cmplt_epi32_mask(magnitude, _mm512_set1_epi32(kInfinityBits)),
        magnitude);
  }
  static GATHERD_LANES_INLINE Ints Max(Ints a, Ints b) {
    return _mm512_max_epi32(a, b);
  }
  static GATHERD_LANES_INLINE int32_t Largest(Ints values) {
    return _mm512_reduce_max_epi32(values);
  }
};

// The first `count` of sixteen elements; the others are loaded as 0 and not
// stored, and no byte of them is touched.
class Avx512TailLanes : public Avx512Registers {
 public:
  explicit GATHERD_LANES_INLINE Avx512TailLanes(size_t count)
      : mask_(static_cast<__mmask16>((1U << count) - 1)) {}

  GATHERD_LANES_INLINE Floats LoadFloat32(const std::byte* from) const {
    return _mm512_maskz_loadu_ps(mask_, from);
  }
  GATHERD_LANES_INLINE Floats LoadFloat16(const std::byte* from) const {
    return FromHalfs(_mm256_maskz_loadu_epi16(mask_, from));
  }
  GATHERD_LANES_INLINE Floats LoadBFloat16(const std::byte* from) const {
    return FromBFloat16s(_mm256_maskz_loadu_epi16(mask_, from));
  }
  GATHERD_LANES_INLINE Floats LoadInt8(const std::byte* from) const {
    return FromInt8s(_mm_maskz_loadu_epi8(mask_, from));
  }

  GATHERD_LANES_INLINE void StoreFloat32(std::byte* to, Floats values) const {
    _mm512_mask_storeu_ps(to, mask_, values);
  }
  GATHERD_LANES_INLINE void StoreFloat16(std::byte* to, Floats values) const {
    _mm256_mask_storeu_epi16(to, mask_, ToHalfs(values));
  }
  GATHERD_LANES_INLINE void StoreBFloat16(std::byte* to, Floats values) const {
    _mm256_mask_storeu_epi16(to, mask_, ToBFloat16s(values));
  }
  GATHERD_LANES_INLINE void StoreInt8(std::byte* to, Floats quotients) const {
    _mm_mask_storeu_epi8(to, mask_, ToInt8s(quotients));
  }

 private:
  __mmask16 mask_;
};

struct Avx512Lanes : Avx512Registers {
  static constexpr size_t kWidth = 16;

  static GATHERD_LANES_INLINE Floats LoadFloat32(const std::byte* from) {
    return _mm512_loadu_ps(from);
  }
  static GATHERD_LANES_INLINE Floats LoadFloat16(const std::byte* from) {
    return FromHalfs(Load256(from));
  }
  static GATHERD_LANES_INLINE Floats LoadBFloat16(const std::byte* from) {
    return FromBFloat16s(Load256(from));
  }
  static GATHERD_LANES_INLINE Floats LoadInt8(const std::byte* from) {
    return FromInt8s(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }

  static GATHERD_LANES_INLINE void StoreFloat32(std::byte* to, Floats values) {
    _mm512_storeu_ps(to, values);
  }
  static GATHERD_LANES_INLINE void StoreFloat16(std::byte* to, Floats values) {
    Store256(to, ToHalfs(values));
  }
  static GATHERD_LANES_INLINE void StoreBFloat16(std::byte* to, Floats values) {
    Store256(to, ToBFloat16s(values));
  }
  static GATHERD_LANES_INLINE void StoreInt8(std::byte* to, Floats quotients) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), ToInt8s(quotients));
  }

  template <typename Step>
  static GATHERD_LANES_INLINE void ForTail(size_t i, size_t dim, Step step) {
    if (i < dim) step(Avx512TailLanes(dim - i), i);
  }

 private:
  static GATHERD_LANES_INLINE __m256i Load256(const std::byte* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static GATHERD_LANES_INLINE void Store256(std::byte* to, __m256i values) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), values);
  }
};

}  // namespace gatherd::GATHERD_ROW_LEVEL

#endif  // GATHERD_CORE_ROWS_LANES_AVX512_H_
