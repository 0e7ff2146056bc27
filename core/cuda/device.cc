#include "core/cuda/device.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"
#include "core/cuda/cuda_status.h"

namespace gatherd {
namespace {

absl::StatusOr<DeviceInfo> QueryDevice(const CudaApi& api, DeviceId id) {
  DeviceInfo device;
  device.id = id;
  cudaDeviceProp properties;
  absl::Status status =
      CudaStatus(api, api.cudaGetDeviceProperties(&properties, Ordinal(id)),
                 {"cudaGetDeviceProperties", id});
  if (!status.ok()) return status;
  device.name = properties.name;
  device.total_bytes = properties.totalGlobalMem;
  device.num_multiprocessors = properties.multiProcessorCount;
  device.compute_major = properties.major;
  device.compute_minor = properties.minor;
  char pci_id[32] = "";
  status = CudaStatus(
      api, api.cudaDeviceGetPCIBusId(pci_id, sizeof(pci_id), Ordinal(id)),
      {"cudaDeviceGetPCIBusId", id});
  if (!status.ok()) return status;
  device.pci_id = pci_id;
  int numa_node = -1;
  // Drivers before 12.2 do not know what this asks.
  if (api.cudaDeviceGetAttribute(&numa_node, cudaDevAttrHostNumaId,
                                 Ordinal(id)) != cudaSuccess) {
    (void)api.cudaGetLastError();
  } else if (numa_node >= 0) {
    device.numa_node = numa_node;
  }
  return device;
}

}  // namespace

absl::StatusOr<std::vector<DeviceInfo>> ListDevices(const CudaApi& api) {
  int num_devices = 0;
  const cudaError_t error = api.cudaGetDeviceCount(&num_devices);
  const absl::Status status = CudaStatus(api, error, {"cudaGetDeviceCount"});
  if (error == cudaErrorInsufficientDriver) {
    // CUDA's own words speak of an old driver alone.
    return absl::FailedPreconditionError(
        absl::StrCat("no NVIDIA driver, or too old a one: ", status.message()));
  }
  if (!status.ok()) return status;
  if (num_devices == 0) {
    return absl::FailedPreconditionError("cudaGetDeviceCount: no GPU");
  }
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < num_devices; ++i) {
    absl::StatusOr<DeviceInfo> device = QueryDevice(api, DeviceId{i});
    if (!device.ok()) return device.status();
    devices.push_back(*std::move(device));
  }
  return devices;
}

std::string DescribeDevice(const DeviceInfo& device) {
  std::string text = absl::StrCat(
      "device ", Ordinal(device.id), ": ", device.name, ", ",
      HumanBytes(device.total_bytes), ", ", device.num_multiprocessors,
      " multiprocessors, compute ", device.compute_major, ".",
      device.compute_minor, ", PCI ", device.pci_id);
  if (device.numa_node.has_value()) {
    absl::StrAppend(&text, ", NUMA node ", *device.numa_node);
  }
  return text;
}

absl::StatusOr<DeviceMemory> QueryMemory(const CudaApi& api, DeviceId device) {
  absl::StatusOr<ScopedDevice> scope = ScopedDevice::Enter(api, device);
  if (!scope.ok()) return scope.status();
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  const absl::Status status =
      CudaStatus(api, api.cudaMemGetInfo(&free_bytes, &total_bytes),
                 {"cudaMemGetInfo", device});
  if (!status.ok()) return status;
  return DeviceMemory{free_bytes, total_bytes};
}

absl::StatusOr<ScopedDevice> ScopedDevice::Enter(const CudaApi& api,
                                                 DeviceId device) {
  int current = 0;
  absl::Status status =
      CudaStatus(api, api.cudaGetDevice(&current), {"cudaGetDevice", device});
  if (!status.ok()) return status;
  if (current == Ordinal(device)) return ScopedDevice(api, std::nullopt);
  status = CudaStatus(api, api.cudaSetDevice(Ordinal(device)),
                      {"cudaSetDevice", device});
  if (!status.ok()) return status;
  return ScopedDevice(api, current);
}

ScopedDevice::ScopedDevice(ScopedDevice&& other) noexcept
    : api_(other.api_),
      previous_(std::exchange(other.previous_, std::nullopt)) {}

ScopedDevice::~ScopedDevice() {
  // Cannot fail: that device was current before.
  if (previous_.has_value()) (void)api_->cudaSetDevice(*previous_);
}

}  // namespace gatherd
