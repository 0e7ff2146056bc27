// One range of addresses over the memory of a node's devices: a part of equal
// size on each, one behind the other in the order of the devices. What is at
// an offset of one part is at the same offset of all, num_bytes_per_device()
// further on.
//
// Built of an address range, and of a piece of physical memory and a mapping a
// device, each an owner of its own: a failure half way leaves nothing behind.
#ifndef GATHERD_CORE_CUDA_VMM_BUFFER_H_
#define GATHERD_CORE_CUDA_VMM_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/device_index.h"
#include "core/cuda/address_range.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"
#include "core/cuda/mapping.h"
#include "core/cuda/physical_memory.h"

namespace gatherd {

// Who may use a part: Preflight finds out which of them works.
enum class VmmAccess {
  kShared,     // every device of the buffer; they need peer access
  kOwnerOnly,  // the device that has it; the addresses stay one range
};

class VmmBuffer {
 public:
  // At least `num_bytes` > 0 on each of `devices`, rounded up to what the
  // granularities of all allow. Content: any. Takes about 30 µs a GiB and
  // device that gets access, and sets this process up on each.
  //
  // INVALID_ARGUMENT for no device, one given twice, or no bytes;
  // RESOURCE_EXHAUSTED, naming device, bytes needed and bytes free, if one has
  // too little free: that is asked of all before anything is taken.
  static absl::StatusOr<VmmBuffer> Create(const CudaApi& api,
                                          absl::Span<const DeviceId> devices,
                                          uint64_t num_bytes, VmmAccess access);

  // Gives all back at once: no kernel may be using it.
  VmmBuffer(VmmBuffer&&) = default;
  VmmBuffer& operator=(VmmBuffer&&) = delete;
  ~VmmBuffer() = default;

  const std::vector<DeviceId>& devices() const { return devices_; }
  VmmAccess access() const { return access_; }
  uint64_t num_bytes_per_device() const { return num_bytes_per_device_; }

  // The first byte of a device's part.
  std::byte* part(DeviceIndex device) const {
    return range_.data() +
           static_cast<uint64_t>(device) * num_bytes_per_device_;
  }

  const PhysicalMemory& memory(DeviceIndex device) const {
    return memory_[static_cast<size_t>(device)];
  }

 private:
  VmmBuffer(std::vector<DeviceId> devices, VmmAccess access,
            uint64_t num_bytes_per_device, AddressRange range)
      : devices_(std::move(devices)),
        access_(access),
        num_bytes_per_device_(num_bytes_per_device),
        range_(std::move(range)) {}

  absl::Status MapPart(const CudaApi& api, DeviceId device);

  std::vector<DeviceId> devices_;
  VmmAccess access_;
  uint64_t num_bytes_per_device_;
  // In the order in which they must be made; they go the other way round.
  AddressRange range_;
  std::vector<PhysicalMemory> memory_;
  std::vector<Mapping> mappings_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_VMM_BUFFER_H_
