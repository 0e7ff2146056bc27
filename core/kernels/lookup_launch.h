// The two kinds of launches that LaunchLookup divides a batch into.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_LAUNCH_H_
#define GATHERD_CORE_KERNELS_LOOKUP_LAUNCH_H_

#include "core/kernels/lookup.h"

namespace gatherd::kernels {

// All segments without pooling.
cudaError_t LaunchLookupRows(const LookupBatch& batch, cudaStream_t stream);

// All segments with pooling, and of one table type.
cudaError_t LaunchLookupBags(const LookupBatch& batch, cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_LAUNCH_H_
