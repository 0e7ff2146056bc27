// The engine's kernels as plain functions, over the memory that the real ones
// work on and with the same results; sums of ADD are taken in the order of
// the request. Each is a call that FakeCuda counts and can make fail, and is
// done where its stream does its work: at once, or in the stream's thread.
//
// Threads: as the real ones allow, that is lookups beside one writer a shard.
#ifndef GATHERD_TESTS_CORE_GPU_HOST_KERNELS_H_
#define GATHERD_TESTS_CORE_GPU_HOST_KERNELS_H_

#include <functional>

#include "core/kernels/kernel_api.h"

namespace gatherd::kernels {

const KernelApi& HostKernels();

// Called by every lookup where it is done: a test can so hold it in flight.
struct LookupHooks {
  // The keys' rows are known, none has been read.
  std::function<void(const LookupBatch&)> before_rows;
  // All is written but the report (LookupBatch::done).
  std::function<void(const LookupBatch&)> before_report;
};

// Sets the hooks for as long as it lives. Made and destroyed while no lookup
// runs; one at a time.
class ScopedLookupHooks {
 public:
  explicit ScopedLookupHooks(LookupHooks hooks);
  ScopedLookupHooks(const ScopedLookupHooks&) = delete;
  ScopedLookupHooks& operator=(const ScopedLookupHooks&) = delete;
  ~ScopedLookupHooks();
};

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_CORE_GPU_HOST_KERNELS_H_
