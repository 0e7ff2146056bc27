// Writing elements of output rows: device side. Rows stand without padding, so
// a row may begin at any byte that its element type allows.
#ifndef GATHERD_CORE_KERNELS_STORE_CUH_
#define GATHERD_CORE_KERNELS_STORE_CUH_

#include "core/kernels/convert.cuh"
#include "core/kernels/lookup.h"

namespace gatherd::kernels {

// The widest unit, 16, 4, 2 or 1 bytes, that divides both numbers.
__host__ __device__ constexpr unsigned CommonUnit(uint64_t a, uint64_t b) {
  const uint64_t both = a | b;
  return both % 16 == 0 ? 16 : both % 4 == 0 ? 4 : both % 2 == 0 ? 2 : 1;
}

// Streaming stores of kBytes bytes held in words, to an address aligned to
// `unit` (16, 4, 2 or 1).
template <int kBytes>
__device__ __forceinline__ void StoreBytes(char* out, const uint32_t* words,
                                           unsigned unit) {
  if (kBytes % 16 == 0 && unit == 16) {
#pragma unroll
    for (int i = 0; i < kBytes / 16; i++) {
      __stcs(reinterpret_cast<uint4*>(out) + i,
             make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2],
                        words[4 * i + 3]));
    }
  } else if (unit >= 4) {
#pragma unroll
    for (int i = 0; i < kBytes / 4; i++) {
      __stcs(reinterpret_cast<unsigned*>(out) + i, words[i]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kBytes; i++) {
      out[i] = static_cast<char>(words[i / 4] >> (8 * (i % 4)));
    }
  }
}

template <int kElements>
__device__ __forceinline__ void StoreHalves(char* out, const uint16_t* bits,
                                            unsigned count, unsigned unit) {
  if (count == kElements) {
    uint32_t words[kElements / 2];
#pragma unroll
    for (int i = 0; i < kElements / 2; i++) {
      words[i] = bits[2 * i] | static_cast<uint32_t>(bits[2 * i + 1]) << 16;
    }
    if (kElements * 2 % 16 != 0 && unit == 16) unit = 4;
    StoreBytes<kElements * 2>(out, words, unit);
    return;
  }
#pragma unroll
  for (int i = 0; i < kElements; i++) {
    if (i < count) reinterpret_cast<uint16_t*>(out)[i] = bits[i];
  }
}

// Stores the first `count` of kElements values (a multiple of 4) as elements of
// `type`, of which the first goes to `out`. `unit`: what `out` is aligned to.
// Not for int8, which needs a scale.
template <int kElements>
__device__ __forceinline__ void StoreElements(ElementType type, char* out,
                                              const float* values,
                                              unsigned count, unsigned unit) {
  if (type == ElementType::kFloat32) {
    if (count == kElements) {
      StoreBytes<kElements * 4>(out, reinterpret_cast<const uint32_t*>(values),
                                unit);
      return;
    }
#pragma unroll
    for (int i = 0; i < kElements; i++) {
      if (i < count) reinterpret_cast<float*>(out)[i] = values[i];
    }
    return;
  }
  uint16_t bits[kElements];
#pragma unroll
  for (int i = 0; i < kElements; i++) {
    bits[i] = type == ElementType::kFloat16 ? Float16Bits(values[i])
                                            : BFloat16Bits(values[i]);
  }
  StoreHalves<kElements>(out, bits, count, unit);
}

template <int kElements>
__device__ __forceinline__ void StoreQuantized(char* out, const float* values,
                                               float scale, unsigned count) {
#pragma unroll
  for (int i = 0; i < kElements; i++) {
    if (i < count) out[i] = static_cast<char>(QuantizedTo(values[i], scale));
  }
}

// Four bytes to anywhere.
__device__ __forceinline__ void StoreScale(char* out, float scale) {
  const uint32_t bits = __float_as_uint(scale);
#pragma unroll
  for (int i = 0; i < 4; i++) out[i] = static_cast<char>(bits >> (8 * i));
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_STORE_CUH_
