// What one write needs on the devices of a node: on each two streams of low
// priority, for its kernels and for values on their way, and memory to work in;
// and pinned memory to bring keys and values through. A context serves one
// write at a time, of any table, and is leased from a pool whose size bounds
// the writes under way.
#ifndef GATHERD_CORE_GPU_WRITE_CONTEXT_H_
#define GATHERD_CORE_GPU_WRITE_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "core/base/device_index.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_buffer.h"
#include "core/cuda/device_id.h"
#include "core/cuda/event.h"
#include "core/cuda/pinned_buffer.h"
#include "core/cuda/stream.h"
#include "core/gpu/write_scratch.h"
#include "core/gpu/write_shape.h"
#include "core/kernels/kernel_api.h"

namespace gatherd {

// What a device tells the host; in pinned memory.
struct WriteReport {
  kernels::WriteCounters counters;
  uint32_t num_listed;    // evicted, or found to be moved
  uint32_t num_selected;  // keys of a whole write
};

class WriteContext {
 public:
  static absl::StatusOr<std::unique_ptr<WriteContext>> Create(
      const CudaApi& api, absl::Span<const DeviceId> devices,
      uint64_t scratch_bytes);

  StreamView stream(DeviceIndex device) const {
    return lanes_[static_cast<size_t>(device)].stream.view();
  }
  // For what comes ahead of the steps, and its end, a buffer of values.
  StreamView upload_stream(DeviceIndex device) const {
    return lanes_[static_cast<size_t>(device)].upload_stream.view();
  }
  EventView uploaded(DeviceIndex device, uint32_t buffer) const {
    return lanes_[static_cast<size_t>(device)].uploaded[buffer].view();
  }
  // A device must be current, as for WriteScratchBytes. INTERNAL if the context
  // was made with less memory than that.
  absl::StatusOr<WriteScratch> Divide(DeviceIndex device,
                                      const kernels::KernelApi& kernels,
                                      const WriteShape& shape) const;

  // Pinned: kMaxSelectedKeys keys and positions, and in each buffer
  // kMaxStepBytes bytes of values, which is more than a row of any table.
  int64_t* keys() const;
  uint32_t* positions() const;
  std::byte* values(uint32_t buffer) const;
  WriteReport& report(DeviceIndex device) const;

  // Until all that was enqueued on all devices has ended, but for uploads.
  absl::Status Wait() const;
  absl::Status WaitForUploads() const;

 private:
  struct Lane {
    CudaStream stream;
    CudaStream upload_stream;
    std::vector<CudaEvent> uploaded;  // kNumValueBuffers
    DeviceBuffer memory;
  };

  WriteContext(std::vector<Lane> lanes, PinnedBuffer pinned)
      : lanes_(std::move(lanes)), pinned_(std::move(pinned)) {}

  std::vector<Lane> lanes_;  // one a device
  PinnedBuffer pinned_;      // reports, keys, positions, values
};

// Thread-safe.
class WriteContextPool {
 public:
  // A context for as long as this lives.
  class Lease {
   public:
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)),
          context_(std::move(other.context_)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    WriteContext& operator*() const { return *context_; }
    WriteContext* operator->() const { return context_.get(); }

   private:
    friend class WriteContextPool;
    Lease(WriteContextPool* pool, std::unique_ptr<WriteContext> context)
        : pool_(pool), context_(std::move(context)) {}

    WriteContextPool* pool_;
    std::unique_ptr<WriteContext> context_;
  };

  // `num_contexts` > 0, each with what the largest of `shapes` needs on each
  // device, and some 44 MiB of pinned memory.
  static absl::StatusOr<std::unique_ptr<WriteContextPool>> Create(
      const CudaApi& api, const kernels::KernelApi& kernels,
      absl::Span<const DeviceId> devices, absl::Span<const WriteShape> shapes,
      int num_contexts);

  // Blocks until a context is free. Whoever holds one must not ask for another,
  // nor wait for a table's turn.
  Lease Acquire();

 private:
  explicit WriteContextPool(std::vector<std::unique_ptr<WriteContext>> free)
      : free_(std::move(free)) {}

  bool HasFree() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !free_.empty();
  }

  absl::Mutex mutex_;
  std::vector<std::unique_ptr<WriteContext>> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_WRITE_CONTEXT_H_
