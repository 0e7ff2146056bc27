// Element conversions on the GPU: device side. Rounding and special values are
// those of core/rows, bit for bit but for the payloads of NaNs.
#ifndef GATHERD_CORE_KERNELS_CONVERT_CUH_
#define GATHERD_CORE_KERNELS_CONVERT_CUH_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "core/kernels/memory_order.cuh"

namespace gatherd::kernels {

// One 16-byte part of a stored row as floats. `scale` is the row's, int8 alone.
struct Float32Row {
  static constexpr int kElements = 4;  // of one part
  static constexpr bool kHasScale = false;
  __device__ static void Unpack(const int4& part, float, float* values) {
    values[0] = __int_as_float(part.x);
    values[1] = __int_as_float(part.y);
    values[2] = __int_as_float(part.z);
    values[3] = __int_as_float(part.w);
  }
};

struct Float16Row {
  static constexpr int kElements = 8;
  static constexpr bool kHasScale = false;
  __device__ static void Unpack(const int4& part, float, float* values) {
    const __half2* pairs = reinterpret_cast<const __half2*>(&part);
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float2 pair = __half22float2(pairs[i]);
      values[2 * i] = pair.x;
      values[2 * i + 1] = pair.y;
    }
  }
};

struct BFloat16Row {
  static constexpr int kElements = 8;
  static constexpr bool kHasScale = false;
  __device__ static void Unpack(const int4& part, float, float* values) {
    const uint32_t words[4] = {
        static_cast<uint32_t>(part.x), static_cast<uint32_t>(part.y),
        static_cast<uint32_t>(part.z), static_cast<uint32_t>(part.w)};
#pragma unroll
    for (int i = 0; i < 4; i++) {
      values[2 * i] = __uint_as_float(words[i] << 16);
      values[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
  }
};

struct Int8Row {
  static constexpr int kElements = 16;
  static constexpr bool kHasScale = true;
  __device__ static void Unpack(const int4& part, float scale, float* values) {
    const int words[4] = {part.x, part.y, part.z, part.w};
#pragma unroll
    for (int i = 0; i < 16; i++) {
      const int8_t element = static_cast<int8_t>(words[i / 4] >> (8 * (i % 4)));
      values[i] = __fmul_rn(static_cast<float>(element), scale);
    }
  }
};

// The scale behind the `dim` elements of an int8 row; unaligned if dim is odd.
template <bool kRelaxed>
__device__ __forceinline__ float LoadScale(const char* row, unsigned dim) {
  const unsigned at = dim & ~3u, shift = (dim & 3u) * 8;
  const uint32_t low = LoadWord<kRelaxed>(row + at);
  if (shift == 0) return __uint_as_float(low);
  // The row's stride is padded to 16 bytes, so the word behind is its own.
  const uint32_t high = LoadWord<kRelaxed>(row + at + 4);
  return __uint_as_float(__funnelshift_r(low, high, shift));
}

__device__ __forceinline__ uint16_t Float16Bits(float value) {
  return __half_as_ushort(__float2half_rn(value));
}

__device__ __forceinline__ uint16_t BFloat16Bits(float value) {
  return __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

// What counts for an int8 row's scale.
__device__ __forceinline__ float FiniteMagnitude(float value) {
  const float magnitude = fabsf(value);
  return magnitude <= 3.402823466e38f ? magnitude : 0.0f;  // not inf, not NaN
}

__device__ __forceinline__ int8_t QuantizedTo(float value, float scale) {
  if (isnan(value)) return 0;
  if (isinf(value)) return value > 0 ? 127 : -127;
  if (scale == 0) return 0;
  const float steps = rintf(__fdiv_rn(value, scale));
  return static_cast<int8_t>(fminf(fmaxf(steps, -127.0f), 127.0f));
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_CONVERT_CUH_
