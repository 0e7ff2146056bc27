// Launches lookups without pooling, of one shard's keys, whose rows go out as
// they are; the kernel is in lookup_owned.cuh.
#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_owned.cuh"

namespace gatherd::kernels {

cudaError_t LaunchOwnedRows(const LookupPart& part, bool hashed,
                            cudaStream_t stream) {
  return hashed ? LaunchOwned<true, Variant::kPlain>(part, stream)
                : LaunchOwned<false, Variant::kPlain>(part, stream);
}

}  // namespace gatherd::kernels
