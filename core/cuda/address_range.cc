#include "core/cuda/address_range.h"

#include <utility>

#include "absl/status/status.h"
#include "core/cuda/cuda_status.h"

namespace gatherd {

absl::StatusOr<AddressRange> AddressRange::Create(const CudaApi& api,
                                                  uint64_t num_bytes,
                                                  uint64_t alignment) {
  CUdeviceptr address = 0;
  const absl::Status status = CudaStatus(
      api, api.cuMemAddressReserve(&address, num_bytes, alignment, 0, 0),
      {"cuMemAddressReserve", std::nullopt, num_bytes});
  if (!status.ok()) return status;
  return AddressRange(api, reinterpret_cast<std::byte*>(address), num_bytes);
}

AddressRange::AddressRange(AddressRange&& other) noexcept
    : api_(std::exchange(other.api_, nullptr)),
      data_(other.data_),
      num_bytes_(other.num_bytes_) {}

AddressRange& AddressRange::operator=(AddressRange&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(data_, other.data_);
  std::swap(num_bytes_, other.num_bytes_);
  return *this;
}

AddressRange::~AddressRange() {
  if (api_ == nullptr) return;
  (void)api_->cuMemAddressFree(reinterpret_cast<CUdeviceptr>(data_),
                               num_bytes_);
}

}  // namespace gatherd
