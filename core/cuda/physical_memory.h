// Memory of a device without an address: a Mapping gives it one.
#ifndef GATHERD_CORE_CUDA_PHYSICAL_MEMORY_H_
#define GATHERD_CORE_CUDA_PHYSICAL_MEMORY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"

namespace gatherd {

class PhysicalMemory {
 public:
  // What sizes and offsets on `device` must be multiples of. Never 0.
  static absl::StatusOr<uint64_t> Granularity(const CudaApi& api,
                                              DeviceId device);

  // `num_bytes`: a multiple of the granularity. Given back once neither this
  // owner nor a mapping holds it.
  static absl::StatusOr<PhysicalMemory> Create(const CudaApi& api,
                                               DeviceId device,
                                               uint64_t num_bytes);

  PhysicalMemory(PhysicalMemory&& other) noexcept;
  PhysicalMemory& operator=(PhysicalMemory&& other) noexcept;
  ~PhysicalMemory();

  DeviceId device() const { return device_; }
  uint64_t num_bytes() const { return num_bytes_; }
  CUmemGenericAllocationHandle handle() const { return handle_; }

  // A file descriptor by which another process can map it. The caller's to
  // close; the memory lives as long as that is open, too.
  absl::StatusOr<int> ExportFileDescriptor() const;

 private:
  PhysicalMemory(const CudaApi& api, DeviceId device, uint64_t num_bytes,
                 CUmemGenericAllocationHandle handle)
      : api_(&api), device_(device), num_bytes_(num_bytes), handle_(handle) {}

  const CudaApi* api_;  // nullptr once moved from
  DeviceId device_;
  uint64_t num_bytes_;
  CUmemGenericAllocationHandle handle_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_PHYSICAL_MEMORY_H_
