// Eight elements at a time with AVX2 and F16C; see lanes_scalar.h for what
// each function does.
#ifndef GATHERD_CORE_ROWS_LANES_AVX2_H_
#define GATHERD_CORE_ROWS_LANES_AVX2_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "core/rows/lanes_scalar.h"

namespace gatherd::GATHERD_ROW_LEVEL {

struct Avx2Lanes {
  static constexpr size_t kWidth = 8;
  using Floats = __m256;
  using Ints = __m256i;

  static GATHERD_LANES_INLINE Floats Broadcast(float value) {
    return _mm256_set1_ps(value);
  }

  static GATHERD_LANES_INLINE Floats LoadFloat32(const std::byte* from) {
    return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
  }
  static GATHERD_LANES_INLINE Floats LoadFloat16(const std::byte* from) {
    return _mm256_cvtph_ps(Load128(from));
  }
  static GATHERD_LANES_INLINE Floats LoadBFloat16(const std::byte* from) {
    const __m256i wide = _mm256_cvtepu16_epi32(Load128(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
  }
  static GATHERD_LANES_INLINE Floats LoadInt8(const std::byte* from) {
    const __m128i narrow =
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(narrow));
  }

  static GATHERD_LANES_INLINE void StoreFloat32(std::byte* to, Floats values) {
    _mm256_storeu_ps(reinterpret_cast<float*>(to), values);
  }
  static GATHERD_LANES_INLINE void StoreFloat16(std::byte* to, Floats values) {
    Store128(to, _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
  }
  static GATHERD_LANES_INLINE void StoreBFloat16(std::byte* to, Floats values) {
    const __m256i bits = _mm256_castps_si256(values);
    const __m256i high = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_srli_epi32(
        _mm256_add_epi32(bits,
                         _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))),
        16);
    const __m256i nan = _mm256_or_si256(high, _mm256_set1_epi32(0x40));
    const __m256i is_nan =
        _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
    Store128(to, NarrowToInt16(_mm256_blendv_epi8(rounded, nan, is_nan)));
  }
  static GATHERD_LANES_INLINE void StoreInt8(std::byte* to, Floats quotients) {
    const __m256 ordered = _mm256_cmp_ps(quotients, quotients, _CMP_ORD_Q);
    const __m256 clamped =
        _mm256_max_ps(_mm256_min_ps(_mm256_and_ps(quotients, ordered),
                                    _mm256_set1_ps(127.0F)),
                      _mm256_set1_ps(-127.0F));
    const __m256i integers = _mm256_cvtps_epi32(clamped);
    const __m128i shorts =
        _mm_packs_epi32(_mm256_castsi256_si128(integers),
                        _mm256_extracti128_si256(integers, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to),
                     _mm_packs_epi16(shorts, shorts));
  }

  static GATHERD_LANES_INLINE Ints FiniteMagnitude(Floats values) {
    const __m256i magnitude = _mm256_and_si256(
        _mm256_castps_si256(values), _mm256_set1_epi32(kMagnitudeBits));
    const __m256i finite =
        _mm256_cmpgt_epi32(_mm256_set1_epi32(kInfinityBits), magnitude);
    return _mm256_and_si256(magnitude, finite);
  }
  static GATHERD_LANES_INLINE Ints Max(Ints a, Ints b) {
    return _mm256_max_epi32(a, b);
  }
  static GATHERD_LANES_INLINE int32_t Largest(Ints values) {
    __m128i rest = _mm_max_epi32(_mm256_castsi256_si128(values),
                                 _mm256_extracti128_si256(values, 1));
    rest =
        _mm_max_epi32(rest, _mm_shuffle_epi32(rest, _MM_SHUFFLE(1, 0, 3, 2)));
    rest =
        _mm_max_epi32(rest, _mm_shuffle_epi32(rest, _MM_SHUFFLE(2, 3, 0, 1)));
    return _mm_cvtsi128_si32(rest);
  }

  template <typename Step>
  static GATHERD_LANES_INLINE void ForTail(size_t i, size_t dim, Step step) {
    for (; i < dim; ++i) step(ScalarLanes(), i);
  }

 private:
  static GATHERD_LANES_INLINE __m128i Load128(const std::byte* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  }
  static GATHERD_LANES_INLINE void Store128(std::byte* to, __m128i values) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), values);
  }
  // Of integers below 2^16.
  static GATHERD_LANES_INLINE __m128i NarrowToInt16(__m256i integers) {
    return _mm_packus_epi32(_mm256_castsi256_si128(integers),
                            _mm256_extracti128_si256(integers, 1));
  }
};

}  // namespace gatherd::GATHERD_ROW_LEVEL

#endif  // GATHERD_CORE_ROWS_LANES_AVX2_H_
