#include "core/cuda/mapping.h"

#include <utility>
#include <vector>

#include "core/cuda/cuda_status.h"

namespace gatherd {
namespace {

CUdeviceptr AddressOf(const std::byte* data) {
  return reinterpret_cast<CUdeviceptr>(data);
}

}  // namespace

absl::StatusOr<Mapping> Mapping::Create(const CudaApi& api,
                                        const AddressRange& range,
                                        uint64_t offset,
                                        const PhysicalMemory& memory) {
  std::byte* data = range.data() + offset;
  const absl::Status status = CudaStatus(
      api,
      api.cuMemMap(AddressOf(data), memory.num_bytes(), 0, memory.handle(), 0),
      {"cuMemMap", memory.device(), memory.num_bytes()});
  if (!status.ok()) return status;
  return Mapping(api, memory.device(), data, memory.num_bytes());
}

Mapping::Mapping(Mapping&& other) noexcept
    : api_(std::exchange(other.api_, nullptr)),
      device_(other.device_),
      data_(other.data_),
      num_bytes_(other.num_bytes_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(num_bytes_, other.num_bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (api_ != nullptr) (void)api_->cuMemUnmap(AddressOf(data_), num_bytes_);
}

absl::Status Mapping::GrantAccess(absl::Span<const DeviceId> devices) const {
  std::vector<CUmemAccessDesc> grants;
  for (const DeviceId device : devices) {
    CUmemAccessDesc grant{};
    grant.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    grant.location.id = Ordinal(device);
    grant.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    grants.push_back(grant);
  }
  return CudaStatus(*api_,
                    api_->cuMemSetAccess(AddressOf(data_), num_bytes_,
                                         grants.data(), grants.size()),
                    {"cuMemSetAccess", device_, num_bytes_});
}

}  // namespace gatherd
