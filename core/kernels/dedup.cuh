// The table of a batch's distinct keys: device side. A slot holds a position
// plus one, or zero; once it has a key it keeps it, while the position rises.
#ifndef GATHERD_CORE_KERNELS_DEDUP_CUH_
#define GATHERD_CORE_KERNELS_DEDUP_CUH_

#include "core/kernels/key_place.h"

namespace gatherd::kernels {

struct DedupRef {
  uint32_t* slots;
  uint32_t mask;  // the number of slots, less one
  const int64_t* keys;
  uint64_t seed;

  __device__ __forceinline__ uint32_t FirstSlot(int64_t key) const {
    return static_cast<uint32_t>(MixKey(key, seed ^ 0x9e3779b97f4a7c15ull)) &
           mask;
  }

  // Any number of threads at once. Where the greatest positions come first, a
  // key that is already there costs reads alone.
  __device__ __forceinline__ void Add(uint32_t position) const {
    const int64_t key = keys[position];
    const uint32_t mine = position + 1;
    uint32_t slot = FirstSlot(key);
    for (;;) {
      uint32_t held = *const_cast<volatile uint32_t*>(slots + slot);
      if (held == 0) {
        held = atomicCAS(slots + slot, 0u, mine);
        if (held == 0) return;
      }
      if (keys[held - 1] == key) {
        if (held < mine) atomicMax(slots + slot, mine);
        return;
      }
      slot = (slot + 1) & mask;
    }
  }

  // The slot of a key that was added, in a launch after that.
  __device__ __forceinline__ uint32_t SlotOf(int64_t key) const {
    uint32_t slot = FirstSlot(key);
    while (keys[slots[slot] - 1] != key) slot = (slot + 1) & mask;
    return slot;
  }

  // Whether a position that was added stands for its key.
  __device__ __forceinline__ bool IsLast(uint32_t position, int64_t key) const {
    uint32_t slot = FirstSlot(key);
    for (;;) {
      const uint32_t held = slots[slot];
      if (held == position + 1) return true;
      if (keys[held - 1] == key) return false;
      slot = (slot + 1) & mask;
    }
  }
};

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_DEDUP_CUH_
