// Memory of one device that only this device uses: workspace, counters. Rows
// and indexes, which other devices read, live in a VmmBuffer.
#ifndef GATHERD_CORE_CUDA_DEVICE_BUFFER_H_
#define GATHERD_CORE_CUDA_DEVICE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"

namespace gatherd {

class DeviceBuffer {
 public:
  // `num_bytes` > 0, of any content, aligned to 256. Giving it back waits for
  // all that the device is doing: not for the path of a request.
  static absl::StatusOr<DeviceBuffer> Create(const CudaApi& api,
                                             DeviceId device,
                                             uint64_t num_bytes);

  DeviceId device() const { return device_; }
  std::byte* data() const { return data_.get(); }  // an address on the device
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  struct Free {
    const CudaApi* api;
    void operator()(std::byte* data) const;
  };
  using Data = std::unique_ptr<std::byte, Free>;

  DeviceBuffer(DeviceId device, Data data, uint64_t num_bytes)
      : device_(device), data_(std::move(data)), num_bytes_(num_bytes) {}

  DeviceId device_;
  Data data_;
  uint64_t num_bytes_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_DEVICE_BUFFER_H_
