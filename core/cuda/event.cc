#include "core/cuda/event.h"

#include "core/cuda/cuda_status.h"
#include "core/cuda/device.h"

namespace gatherd {

absl::StatusOr<bool> EventView::HasPassed() const {
  const cudaError_t error = api_->cudaEventQuery(handle_);
  if (error == cudaErrorNotReady) {
    // No error, but kept as one for the next who asks.
    (void)api_->cudaGetLastError();
    return false;
  }
  const absl::Status status =
      CudaStatus(*api_, error, {"cudaEventQuery", device_});
  if (!status.ok()) return status;
  return true;
}

absl::Status EventView::Synchronize() const {
  return CudaStatus(*api_, api_->cudaEventSynchronize(handle_),
                    {"cudaEventSynchronize", device_});
}

void CudaEvent::Destroy::operator()(cudaEvent_t handle) const {
  (void)api->cudaEventDestroy(handle);
}

absl::StatusOr<CudaEvent> CudaEvent::Create(const CudaApi& api,
                                            DeviceId device) {
  absl::StatusOr<ScopedDevice> scope = ScopedDevice::Enter(api, device);
  if (!scope.ok()) return scope.status();
  constexpr unsigned kFlags = cudaEventDisableTiming | cudaEventBlockingSync;
  cudaEvent_t handle = nullptr;
  const absl::Status status =
      CudaStatus(api, api.cudaEventCreateWithFlags(&handle, kFlags),
                 {"cudaEventCreateWithFlags", device});
  if (!status.ok()) return status;
  return CudaEvent(device, Handle(handle, Destroy{&api}));
}

}  // namespace gatherd
