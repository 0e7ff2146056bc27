#include "core/cuda/device_buffer.h"

#include "absl/status/status.h"
#include "core/cuda/cuda_status.h"
#include "core/cuda/device.h"

namespace gatherd {

void DeviceBuffer::Free::operator()(std::byte* data) const {
  (void)api->cudaFree(data);
}

absl::StatusOr<DeviceBuffer> DeviceBuffer::Create(const CudaApi& api,
                                                  DeviceId device,
                                                  uint64_t num_bytes) {
  absl::StatusOr<ScopedDevice> scope = ScopedDevice::Enter(api, device);
  if (!scope.ok()) return scope.status();
  void* data = nullptr;
  const absl::Status status = CudaStatus(api, api.cudaMalloc(&data, num_bytes),
                                         {"cudaMalloc", device, num_bytes});
  if (!status.ok()) return status;
  return DeviceBuffer(device, Data(static_cast<std::byte*>(data), Free{&api}),
                      num_bytes);
}

}  // namespace gatherd
