// Launches lookups without pooling; the kernel is in lookup_rows_kernel.cuh.
#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_rows_kernel.cuh"

namespace gatherd::kernels {
namespace {

bool IsPlain(const LookupSegment& s) {
  return s.table_type == s.output_type && OutputRowBytes(s) % 16 == 0 &&
         s.table.stamps == nullptr;
}

template <bool kHashed>
cudaError_t LaunchPlain(const LookupPart& part, cudaStream_t stream) {
  // A small parameter block costs less to launch.
  constexpr Variant kPlain = Variant::kPlain;
  const bool few_keys = HasFewKeys(part);
  if (part.num_segments <= 1) {
    return few_keys ? LaunchRows<kHashed, kPlain, 1, kFewKeys>(part, stream)
                    : LaunchRows<kHashed, kPlain, 1, 0>(part, stream);
  }
  if (part.num_segments <= kFewSegments) {
    return few_keys
               ? LaunchRows<kHashed, kPlain, kFewSegments, kFewKeys>(part,
                                                                     stream)
               : LaunchRows<kHashed, kPlain, kFewSegments, 0>(part, stream);
  }
  return LaunchRows<kHashed, kPlain, kMaxSegments, 0>(part, stream);
}

}  // namespace

cudaError_t LaunchLookupRows(const LookupPart& part, cudaStream_t stream) {
  bool hashed = false;
  bool plain = part.batch->only_shard == kAllShards;
  for (int i = 0; i < part.num_segments; i++) {
    hashed = hashed || part.segment(i).table.index != nullptr;
    plain = plain && IsPlain(part.segment(i));
  }
  if (!plain) return LaunchGeneralRows(part, hashed, stream);
  return hashed ? LaunchPlain<true>(part, stream)
                : LaunchPlain<false>(part, stream);
}

}  // namespace gatherd::kernels
