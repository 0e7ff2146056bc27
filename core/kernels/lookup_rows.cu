// Launches lookups without pooling; the kernel is in lookup_rows_kernel.cuh.
#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_rows_kernel.cuh"

namespace gatherd::kernels {
cudaError_t LaunchLookupRows(const LookupPart& part, cudaStream_t stream) {
  bool hashed = false;
  bool plain = true;
  for (int i = 0; i < part.num_segments; i++) {
    hashed = hashed || part.segment(i).table.index != nullptr;
    plain = plain && IsPlain(part.segment(i));
  }
  if (part.batch->only_shard != kAllShards) {
    return plain ? LaunchOwnedRows(part, hashed, stream)
                 : LaunchGeneralOwnedRows(part, hashed, stream);
  }
  if (!plain) return LaunchGeneralRows(part, hashed, stream);
  return hashed ? LaunchRows<true, Variant::kPlain>(part, stream)
                : LaunchRows<false, Variant::kPlain>(part, stream);
}

}  // namespace gatherd::kernels
