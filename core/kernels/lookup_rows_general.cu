// Launches lookups without pooling that convert rows, answer for one shard or
// stamp what they find.
#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_rows_kernel.cuh"

namespace gatherd::kernels {
namespace {

template <bool kHashed>
cudaError_t LaunchFitting(const LookupPart& part, cudaStream_t stream) {
  constexpr Variant kGeneral = Variant::kGeneral;
  const bool few_keys = HasFewKeys(part);
  if (part.num_segments <= 1) {
    return few_keys ? LaunchRows<kHashed, kGeneral, 1, kFewKeys>(part, stream)
                    : LaunchRows<kHashed, kGeneral, 1, 0>(part, stream);
  }
  if (part.num_segments <= kFewSegments) {
    return few_keys
               ? LaunchRows<kHashed, kGeneral, kFewSegments, kFewKeys>(part,
                                                                       stream)
               : LaunchRows<kHashed, kGeneral, kFewSegments, 0>(part, stream);
  }
  return LaunchRows<kHashed, kGeneral, kMaxSegments, 0>(part, stream);
}

}  // namespace

cudaError_t LaunchGeneralRows(const LookupPart& part, bool hashed,
                              cudaStream_t stream) {
  return hashed ? LaunchFitting<true>(part, stream)
                : LaunchFitting<false>(part, stream);
}

}  // namespace gatherd::kernels
