#include "core/cuda/pinned_buffer.h"

#include "absl/status/status.h"
#include "core/cuda/cuda_status.h"
#include "core/cuda/device.h"

namespace gatherd {

void PinnedBuffer::Free::operator()(std::byte* data) const {
  (void)api->cudaFreeHost(data);
}

absl::StatusOr<PinnedBuffer> PinnedBuffer::Create(const CudaApi& api,
                                                  DeviceId device,
                                                  uint64_t num_bytes) {
  absl::StatusOr<ScopedDevice> scope = ScopedDevice::Enter(api, device);
  if (!scope.ok()) return scope.status();
  void* data = nullptr;
  const absl::Status status =
      CudaStatus(api,
                 api.cudaHostAlloc(&data, num_bytes,
                                   cudaHostAllocPortable | cudaHostAllocMapped),
                 {"cudaHostAlloc", device, num_bytes});
  if (!status.ok()) return status;
  return PinnedBuffer(Data(static_cast<std::byte*>(data), Free{&api}),
                      num_bytes);
}

}  // namespace gatherd
