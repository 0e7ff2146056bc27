// What the stamps of a table that evicts say (TableRef::stamps). For the host
// and for kernels.
#ifndef GATHERD_CORE_KERNELS_STAMP_H_
#define GATHERD_CORE_KERNELS_STAMP_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gatherd::kernels {

// The stamp of a row after one more use; `now`: the table's, 0 for LFU. 0: the
// row is new.
__host__ __device__ inline uint32_t StampOfUse(uint32_t stamp, uint32_t now) {
  if (now != 0) return now;
  return stamp == 0xffffffffu ? stamp : stamp + 1;
}

// Of two rows the one with the larger value is to go first. Ages are counted
// modulo 2^32, but for those of lookups that are newer than `now`: 0.
__host__ __device__ inline uint32_t Coldness(uint32_t stamp, uint32_t now) {
  if (now == 0) return ~stamp;
  constexpr uint32_t kNewer = 0u - (1u << 20);
  const uint32_t age = now - stamp;
  return age >= kNewer ? 0 : age;
}

// LFU: forgets half of the uses, never all.
__host__ __device__ inline uint32_t HalvedStamp(uint32_t stamp) {
  return stamp > 1 ? stamp / 2 : stamp;
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_STAMP_H_
