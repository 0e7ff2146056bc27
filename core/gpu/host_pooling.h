// Pooled lookups on GPUs that cannot read each other's memory: no device can
// add up a bag, so each gives the rows that it owns, and the host pools them.
#ifndef GATHERD_CORE_GPU_HOST_POOLING_H_
#define GATHERD_CORE_GPU_HOST_POOLING_H_

#include <functional>

#include "core/exec/job.h"

namespace gatherd {

bool HasPooling(const LookupJob& job);

// Answers `job` by way of a job of its own without pooling, which is given to
// `submit`. Takes memory for the rows of all pooled keys, and pools on the
// thread that ends the inner job.
void SubmitHostPooled(LookupJob* job,
                      const std::function<void(LookupJob*)>& submit);

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_HOST_POOLING_H_
