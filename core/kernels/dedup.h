// Finds out which position of a batch stands for each distinct key: the
// greatest. The table of positions is keyed through the batch's own keys, so
// that no key value is reserved.
#ifndef GATHERD_CORE_KERNELS_DEDUP_H_
#define GATHERD_CORE_KERNELS_DEDUP_H_

#include "core/kernels/write_batch.h"

namespace gatherd::kernels {

// A power of two, at least twice the number of keys.
inline uint32_t NumDedupSlots(uint32_t num_keys) {
  uint32_t num_slots = 64;
  while (num_slots < 2 * static_cast<uint64_t>(num_keys)) num_slots *= 2;
  return num_slots;
}

// Fills workspace.dedup for the keys of the batch's shard.
cudaError_t DeduplicateAsync(const WriteBatch& batch, cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_DEDUP_H_
