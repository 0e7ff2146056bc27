// Deals out the memory of a VmmBuffer: a block lies at the same offset of every
// device's part. Dropping a block unmaps nothing, so kernels of other tables
// run on, and takes no time on a device.
#ifndef GATHERD_CORE_CUDA_VMM_ARENA_H_
#define GATHERD_CORE_CUDA_VMM_ARENA_H_

#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "core/base/device_index.h"
#include "core/cuda/free_ranges.h"
#include "core/cuda/vmm_buffer.h"

namespace gatherd {

class VmmArena;

// A block, owned: its end gives the memory back to the arena, which must
// outlive it. By then no kernel may be using it.
class VmmBlock {
 public:
  VmmBlock(VmmBlock&& other) noexcept;
  VmmBlock& operator=(VmmBlock&& other) noexcept;
  ~VmmBlock();

  // On each device; what was asked for, rounded up.
  uint64_t num_bytes() const { return num_bytes_; }
  std::byte* part(DeviceIndex device) const;
  // From part 0 to part 1, and so on.
  uint64_t part_stride_bytes() const;

 private:
  friend class VmmArena;
  VmmBlock(VmmArena* arena, uint64_t offset, uint64_t num_bytes)
      : arena_(arena), offset_(offset), num_bytes_(num_bytes) {}

  VmmArena* arena_;  // nullptr once moved from
  uint64_t offset_;
  uint64_t num_bytes_;
};

// From any thread.
class VmmArena {
 public:
  // Blocks begin at multiples of this and are multiples of it long.
  static constexpr uint64_t kAlignment = 256;

  explicit VmmArena(VmmBuffer buffer);
  VmmArena(const VmmArena&) = delete;
  VmmArena& operator=(const VmmArena&) = delete;

  // `num_bytes` on each device, of any content; 0 counts as 1.
  // RESOURCE_EXHAUSTED, with the numbers, if no free range is as long.
  absl::StatusOr<VmmBlock> Allocate(uint64_t num_bytes);

  const VmmBuffer& buffer() const { return buffer_; }
  // On each device; not always in one piece.
  uint64_t num_free_bytes() const;

 private:
  friend class VmmBlock;
  void GiveBack(uint64_t offset, uint64_t num_bytes);

  const VmmBuffer buffer_;
  mutable absl::Mutex mutex_;
  FreeRanges free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_VMM_ARENA_H_
