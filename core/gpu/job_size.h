// How large a lookup job is, to decide who answers it.
#ifndef GATHERD_CORE_GPU_JOB_SIZE_H_
#define GATHERD_CORE_GPU_JOB_SIZE_H_

#include <cstdint>

#include "core/exec/job.h"

namespace gatherd {

// Whether sending the rows takes so little that any thread may do it.
bool IsSmallReply(const LookupJob& job);

// Whether a LookupContext has room for the whole job, made for bags of
// `max_bag_keys`, and a batch of it is short enough not to be cut into chunks.
bool FitsOneBatch(const LookupJob& job, uint64_t max_bag_keys);

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_JOB_SIZE_H_
