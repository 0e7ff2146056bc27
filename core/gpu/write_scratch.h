// A device's memory for the steps of writes, and how it is divided.
#ifndef GATHERD_CORE_GPU_WRITE_SCRATCH_H_
#define GATHERD_CORE_GPU_WRITE_SCRATCH_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/gpu/write_shape.h"
#include "core/kernels/kernel_api.h"

namespace gatherd {

// The most keys of a write that devices cut into steps (write_selection.h).
inline constexpr uint32_t kMaxSelectedKeys = uint32_t{1} << 20;

// Steps of a selection take turns with the memory for values: those of the next
// come while one is written.
inline constexpr uint32_t kNumValueBuffers = 2;

// A device's memory for the steps of one table, by arrays: of the shape's
// num_keys entries, but for some. Aligned to 256 bytes.
struct WriteScratch {
  int64_t* keys = nullptr;
  // Each of num_keys rows of any value type.
  std::array<std::byte*, kNumValueBuffers> values{};
  uint64_t values_bytes = 0;  // of each
  kernels::WriteWorkspace workspace;
  uint32_t* retired = nullptr;
  uint32_t* taken = nullptr;
  kernels::WriteCounters* counters = nullptr;  // one
  uint32_t* num_listed = nullptr;              // one

  // Of a whole write, for kMaxSelectedKeys.
  int64_t* all_keys = nullptr;
  kernels::WriteWorkspace all_workspace;  // kSet
  kernels::Selection selection;
};

// What a device needs for steps of a table of that shape. A device must be
// current: the kernels' own needs depend on it.
uint64_t WriteScratchBytes(const kernels::KernelApi& kernels,
                           const WriteShape& shape);

// Divides that much device memory, aligned to 256 bytes.
WriteScratch DivideScratch(std::byte* memory, const kernels::KernelApi& kernels,
                           const WriteShape& shape);

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_WRITE_SCRATCH_H_
