#include "core/cuda/stream.h"

#include "core/cuda/cuda_status.h"
#include "core/cuda/device.h"

namespace gatherd {

absl::Status StreamView::CopyAsync(void* to, const void* from,
                                   uint64_t num_bytes) const {
  return CudaStatus(
      *api_,
      api_->cudaMemcpyAsync(to, from, num_bytes, cudaMemcpyDefault, handle_),
      {"cudaMemcpyAsync", device_, num_bytes});
}

absl::Status StreamView::FillAsync(void* to, uint8_t value,
                                   uint64_t num_bytes) const {
  return CudaStatus(*api_, api_->cudaMemsetAsync(to, value, num_bytes, handle_),
                    {"cudaMemsetAsync", device_, num_bytes});
}

absl::Status StreamView::RecordAsync(EventView event) const {
  return CudaStatus(*api_, api_->cudaEventRecord(event.handle(), handle_),
                    {"cudaEventRecord", device_});
}

absl::Status StreamView::WaitAsync(EventView event) const {
  return CudaStatus(
      *api_,
      api_->cudaStreamWaitEvent(handle_, event.handle(), cudaEventWaitDefault),
      {"cudaStreamWaitEvent", device_});
}

absl::StatusOr<bool> StreamView::IsIdle() const {
  const cudaError_t error = api_->cudaStreamQuery(handle_);
  if (error == cudaErrorNotReady) {
    // No error, but kept as one for the next who asks.
    (void)api_->cudaGetLastError();
    return false;
  }
  const absl::Status status =
      CudaStatus(*api_, error, {"cudaStreamQuery", device_});
  if (!status.ok()) return status;
  return true;
}

absl::Status StreamView::Synchronize() const {
  return CudaStatus(*api_, api_->cudaStreamSynchronize(handle_),
                    {"cudaStreamSynchronize", device_});
}

void CudaStream::Destroy::operator()(cudaStream_t handle) const {
  (void)api->cudaStreamDestroy(handle);
}

absl::StatusOr<CudaStream> CudaStream::Create(const CudaApi& api,
                                              DeviceId device,
                                              StreamPriority priority) {
  absl::StatusOr<ScopedDevice> scope = ScopedDevice::Enter(api, device);
  if (!scope.ok()) return scope.status();
  int least = 0;
  int greatest = 0;
  absl::Status status =
      CudaStatus(api, api.cudaDeviceGetStreamPriorityRange(&least, &greatest),
                 {"cudaDeviceGetStreamPriorityRange", device});
  if (!status.ok()) return status;
  cudaStream_t handle = nullptr;
  status = CudaStatus(api,
                      api.cudaStreamCreateWithPriority(
                          &handle, cudaStreamNonBlocking,
                          priority == StreamPriority::kHigh ? greatest : least),
                      {"cudaStreamCreateWithPriority", device});
  if (!status.ok()) return status;
  return CudaStream(device, Handle(handle, Destroy{&api}));
}

}  // namespace gatherd
