// The two kinds of launches that LaunchLookup divides a batch into.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_LAUNCH_H_
#define GATHERD_CORE_KERNELS_LOOKUP_LAUNCH_H_

#include "core/kernels/lookup.h"

namespace gatherd::kernels {

// What one launch answers of a batch.
struct LookupPart {
  const LookupBatch* batch = nullptr;
  int indices[kMaxSegments];  // of its segments, among the batch's
  int num_segments = 0;
  // Each segment is cut in so many parts, and those of all segments take turns;
  // num_segments times it is kMaxSegments at most.
  int num_slices = 1;
  bool is_last = false;  // launch of the batch, which sends the report

  const LookupSegment& segment(int i) const {
    return batch->segments[indices[i]];
  }
};

// All segments without pooling.
cudaError_t LaunchLookupRows(const LookupPart& part, cudaStream_t stream);
// The same where rows must be more than copied; hashed: some table is.
cudaError_t LaunchGeneralRows(const LookupPart& part, bool hashed,
                              cudaStream_t stream);

// The same two for the keys of one shard alone.
cudaError_t LaunchOwnedRows(const LookupPart& part, bool hashed,
                            cudaStream_t stream);
cudaError_t LaunchGeneralOwnedRows(const LookupPart& part, bool hashed,
                                   cudaStream_t stream);

// All segments with pooling, and of one table type.
cudaError_t LaunchLookupBags(const LookupPart& part, cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_LAUNCH_H_
