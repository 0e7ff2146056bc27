#include "core/cuda/physical_memory.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/cuda/cuda_status.h"

namespace gatherd {
namespace {

CUmemAllocationProp PropertiesOn(DeviceId device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = Ordinal(device);
  return properties;
}

}  // namespace

absl::StatusOr<uint64_t> PhysicalMemory::Granularity(const CudaApi& api,
                                                     DeviceId device) {
  const CUmemAllocationProp properties = PropertiesOn(device);
  size_t granularity = 0;
  const absl::Status status = CudaStatus(
      api,
      api.cuMemGetAllocationGranularity(&granularity, &properties,
                                        CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
      {"cuMemGetAllocationGranularity", device});
  if (!status.ok()) return status;
  if (granularity == 0) {
    return absl::InternalError(absl::StrCat(
        "device ", Ordinal(device), ": cuMemGetAllocationGranularity gave 0"));
  }
  return granularity;
}

absl::StatusOr<PhysicalMemory> PhysicalMemory::Create(const CudaApi& api,
                                                      DeviceId device,
                                                      uint64_t num_bytes) {
  const CUmemAllocationProp properties = PropertiesOn(device);
  CUmemGenericAllocationHandle handle = 0;
  const absl::Status status =
      CudaStatus(api, api.cuMemCreate(&handle, num_bytes, &properties, 0),
                 {"cuMemCreate", device, num_bytes});
  if (!status.ok()) return status;
  return PhysicalMemory(api, device, num_bytes, handle);
}

PhysicalMemory::PhysicalMemory(PhysicalMemory&& other) noexcept
    : api_(std::exchange(other.api_, nullptr)),
      device_(other.device_),
      num_bytes_(other.num_bytes_),
      handle_(other.handle_) {}

PhysicalMemory& PhysicalMemory::operator=(PhysicalMemory&& other) noexcept {
  std::swap(api_, other.api_);
  std::swap(device_, other.device_);
  std::swap(num_bytes_, other.num_bytes_);
  std::swap(handle_, other.handle_);
  return *this;
}

PhysicalMemory::~PhysicalMemory() {
  if (api_ != nullptr) (void)api_->cuMemRelease(handle_);
}

absl::StatusOr<int> PhysicalMemory::ExportFileDescriptor() const {
  int file_descriptor = -1;
  const absl::Status status =
      CudaStatus(*api_,
                 api_->cuMemExportToShareableHandle(
                     &file_descriptor, handle_,
                     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                 {"cuMemExportToShareableHandle", device_, num_bytes_});
  if (!status.ok()) return status;
  return file_descriptor;
}

}  // namespace gatherd
