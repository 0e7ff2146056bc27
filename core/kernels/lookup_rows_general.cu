// Launches lookups without pooling that convert rows or stamp what they find.
#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_rows_kernel.cuh"

namespace gatherd::kernels {

cudaError_t LaunchGeneralRows(const LookupPart& part, bool hashed,
                              cudaStream_t stream) {
  return hashed ? LaunchRows<true, Variant::kGeneral>(part, stream)
                : LaunchRows<false, Variant::kGeneral>(part, stream);
}

}  // namespace gatherd::kernels
