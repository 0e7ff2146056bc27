// A point in a stream's work that others can wait for.
#ifndef GATHERD_CORE_CUDA_EVENT_H_
#define GATHERD_CORE_CUDA_EVENT_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"

namespace gatherd {

// An event that someone else owns: passed by value. From any thread, one at a
// time; the current device does not matter.
class EventView {
 public:
  EventView(const CudaApi& api, DeviceId device, cudaEvent_t handle)
      : api_(&api), device_(device), handle_(handle) {}

  DeviceId device() const { return device_; }
  cudaEvent_t handle() const { return handle_; }

  // Of what was recorded last (StreamView::RecordAsync); of nothing: true, at
  // once.
  absl::StatusOr<bool> HasPassed() const;
  absl::Status Synchronize() const;  // blocks this thread, which may sleep

 private:
  const CudaApi* api_;
  DeviceId device_;
  cudaEvent_t handle_;
};

class CudaEvent {
 public:
  // Without timing, which would slow down what waits for it.
  static absl::StatusOr<CudaEvent> Create(const CudaApi& api, DeviceId device);

  EventView view() const {
    return {*handle_.get_deleter().api, device_, handle_.get()};
  }

 private:
  struct Destroy {
    const CudaApi* api;
    void operator()(cudaEvent_t handle) const;
  };
  using Handle = std::unique_ptr<CUevent_st, Destroy>;

  CudaEvent(DeviceId device, Handle handle)
      : device_(device), handle_(std::move(handle)) {}

  DeviceId device_;
  Handle handle_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_EVENT_H_
