// Launches pooled lookups; the kernel is in lookup_bags.cuh.
#include "core/kernels/lookup_bags.cuh"

namespace gatherd::kernels {
namespace {

template <class Row>
void LayOut(const LookupSegment& s, SegmentParams* p) {
  const uint32_t num_parts = (s.dim + Row::kElements - 1) / Row::kElements;
  uint32_t group = 1;
  while (group < num_parts && group < kWarpSize) group *= 2;
  p->items_per_warp = kWarpSize / group;
  const bool whole_rows =
      num_parts <= kWarpSize || s.output_type == ElementType::kInt8;
  p->units_per_row = whole_rows ? 1 : (num_parts + kWarpSize - 1) / kWarpSize;
  p->unit_magic = CeilReciprocal(p->units_per_row);
}

template <class Row, bool kHashed, bool kToInt8, int kCapacity>
cudaError_t Launch(const LookupPart& part, cudaStream_t stream) {
  BatchParams<kCapacity> params;
  const uint32_t num_blocks = FillParams<kBagThreads>(
      part, &params, [](const LookupSegment& s, SegmentParams* p) {
        LayOut<Row>(s, p);
        return s.num_bags * p->units_per_row;
      });
  return LaunchAndReport<kBagThreads>(
      LookupBagsKernel<Row, kHashed, kToInt8, kCapacity>, num_blocks, 0,
      &params, stream);
}

template <class Row>
cudaError_t LaunchOf(const LookupPart& part, cudaStream_t stream) {
  bool hashed = false;
  bool to_int8 = false;
  for (int i = 0; i < part.num_segments; i++) {
    hashed = hashed || part.segment(i).table.index != nullptr;
    to_int8 = to_int8 || part.segment(i).output_type == ElementType::kInt8;
  }
  if (to_int8) return Launch<Row, true, true, kMaxSegments>(part, stream);
  if (part.num_segments <= 1) {
    return hashed ? Launch<Row, true, false, 1>(part, stream)
                  : Launch<Row, false, false, 1>(part, stream);
  }
  return hashed ? Launch<Row, true, false, kMaxSegments>(part, stream)
                : Launch<Row, false, false, kMaxSegments>(part, stream);
}

}  // namespace

cudaError_t LaunchLookupBags(const LookupPart& part, cudaStream_t stream) {
  switch (part.segment(0).table_type) {
    case ElementType::kFloat32:
      return LaunchOf<Float32Row>(part, stream);
    case ElementType::kFloat16:
      return LaunchOf<Float16Row>(part, stream);
    case ElementType::kBFloat16:
      return LaunchOf<BFloat16Row>(part, stream);
    case ElementType::kInt8:
      return LaunchOf<Int8Row>(part, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace gatherd::kernels
