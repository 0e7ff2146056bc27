// Launches lookups without pooling, of one shard's keys, that convert rows or
// stamp what they find.
#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_owned.cuh"

namespace gatherd::kernels {

cudaError_t LaunchGeneralOwnedRows(const LookupPart& part, bool hashed,
                                   cudaStream_t stream) {
  return hashed ? LaunchOwned<true, Variant::kGeneral>(part, stream)
                : LaunchOwned<false, Variant::kGeneral>(part, stream);
}

}  // namespace gatherd::kernels
