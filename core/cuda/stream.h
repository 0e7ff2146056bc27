// An order of work on one device.
#ifndef GATHERD_CORE_CUDA_STREAM_H_
#define GATHERD_CORE_CUDA_STREAM_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"
#include "core/cuda/event.h"

namespace gatherd {

// A stream that someone else owns: passed by value. From any thread; the
// current device matters to kernel launches alone (ScopedDevice). An error may
// be one of earlier work on the device.
class StreamView {
 public:
  StreamView(const CudaApi& api, DeviceId device, cudaStream_t handle)
      : api_(&api), device_(device), handle_(handle) {}

  DeviceId device() const { return device_; }
  cudaStream_t handle() const { return handle_; }

  // Between any two places on the host and on devices. Memory of the host must
  // be pinned, and both must live until the copy has ended.
  absl::Status CopyAsync(void* to, const void* from, uint64_t num_bytes) const;
  // Every byte of device memory becomes `value`.
  absl::Status FillAsync(void* to, uint8_t value, uint64_t num_bytes) const;

  // `event`, of the same device, passes when all that is enqueued has ended.
  absl::Status RecordAsync(EventView event) const;
  // What is enqueued later starts after `event`, of any device, has passed.
  absl::Status WaitAsync(EventView event) const;

  absl::StatusOr<bool> IsIdle() const;
  absl::Status Synchronize() const;  // blocks this thread

 private:
  const CudaApi* api_;
  DeviceId device_;
  cudaStream_t handle_;
};

// Lookups go before writes and fills.
enum class StreamPriority { kLow, kHigh };

class CudaStream {
 public:
  // Does not wait for the default stream, nor that for it.
  static absl::StatusOr<CudaStream> Create(const CudaApi& api, DeviceId device,
                                           StreamPriority priority);

  StreamView view() const {
    return {*handle_.get_deleter().api, device_, handle_.get()};
  }

 private:
  // Lets the enqueued work end, without waiting for it.
  struct Destroy {
    const CudaApi* api;
    void operator()(cudaStream_t handle) const;
  };
  using Handle = std::unique_ptr<CUstream_st, Destroy>;

  CudaStream(DeviceId device, Handle handle)
      : device_(device), handle_(std::move(handle)) {}

  DeviceId device_;
  Handle handle_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_STREAM_H_
