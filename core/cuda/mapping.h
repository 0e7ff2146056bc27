// Physical memory at a place of an address range. The range must outlive it,
// the memory need not.
#ifndef GATHERD_CORE_CUDA_MAPPING_H_
#define GATHERD_CORE_CUDA_MAPPING_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/cuda/address_range.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"
#include "core/cuda/physical_memory.h"

namespace gatherd {

class Mapping {
 public:
  // All of `memory` from `offset` of `range` on, where it fits. No device may
  // use it before GrantAccess, not even its own.
  static absl::StatusOr<Mapping> Create(const CudaApi& api,
                                        const AddressRange& range,
                                        uint64_t offset,
                                        const PhysicalMemory& memory);

  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  // No kernel may be using it: the driver waits for none.
  ~Mapping();

  // Lets `devices` read and write it. Those that do not own the memory need
  // peer access to the one that does.
  absl::Status GrantAccess(absl::Span<const DeviceId> devices) const;

  DeviceId device() const { return device_; }  // that has the memory
  std::byte* data() const { return data_; }
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  Mapping(const CudaApi& api, DeviceId device, std::byte* data,
          uint64_t num_bytes)
      : api_(&api), device_(device), data_(data), num_bytes_(num_bytes) {}

  const CudaApi* api_;  // nullptr once moved from
  DeviceId device_;
  std::byte* data_;
  uint64_t num_bytes_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_MAPPING_H_
