// Addresses that no allocation will get, on the host and on any device, and
// behind which there is nothing until something is mapped.
#ifndef GATHERD_CORE_CUDA_ADDRESS_RANGE_H_
#define GATHERD_CORE_CUDA_ADDRESS_RANGE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "core/cuda/cuda_api.h"

namespace gatherd {

class AddressRange {
 public:
  // `num_bytes`: a multiple of the granularity of every device that will be
  // mapped. `alignment`: a power of two, or 0 for the driver's own.
  static absl::StatusOr<AddressRange> Create(const CudaApi& api,
                                             uint64_t num_bytes,
                                             uint64_t alignment);

  AddressRange(AddressRange&& other) noexcept;
  AddressRange& operator=(AddressRange&& other) noexcept;
  ~AddressRange();  // by when nothing may be mapped

  std::byte* data() const { return data_; }
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  AddressRange(const CudaApi& api, std::byte* data, uint64_t num_bytes)
      : api_(&api), data_(data), num_bytes_(num_bytes) {}

  const CudaApi* api_;  // nullptr once moved from
  std::byte* data_;
  uint64_t num_bytes_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_ADDRESS_RANGE_H_
