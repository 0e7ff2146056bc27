// The GPUs of this machine, and which of them a thread's CUDA calls go to.
#ifndef GATHERD_CORE_CUDA_DEVICE_H_
#define GATHERD_CORE_CUDA_DEVICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"

namespace gatherd {

struct DeviceInfo {
  DeviceId id{};
  std::string name;    // "NVIDIA H200"
  std::string pci_id;  // "0000:1b:00.0"
  uint64_t total_bytes = 0;
  int num_multiprocessors = 0;
  int compute_major = 0;  // compute capability
  int compute_minor = 0;
  std::optional<int> numa_node;  // nearest to it, where the driver knows
};

// All of them in CUDA's order, at least one. Takes no memory on any: a device
// that is not used is left alone. FAILED_PRECONDITION where there is no GPU or
// no driver.
absl::StatusOr<std::vector<DeviceInfo>> ListDevices(const CudaApi& api);

// One line: "device 0: NVIDIA H200, 139.81 GiB, 132 multiprocessors, compute
// 9.0, PCI 0000:1b:00.0, NUMA node 0".
std::string DescribeDevice(const DeviceInfo& device);

// Of the whole device, other processes included. The first call for a device
// sets up this process there, which takes some hundred MiB of it and a while.
struct DeviceMemory {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
};
absl::StatusOr<DeviceMemory> QueryMemory(const CudaApi& api, DeviceId device);

// Makes `device` the current one of this thread until the end of the scope,
// then the one that was it before.
//
//   absl::StatusOr<ScopedDevice> scope = ScopedDevice::Enter(api, device);
//   if (!scope.ok()) return scope.status();
class ScopedDevice {
 public:
  static absl::StatusOr<ScopedDevice> Enter(const CudaApi& api,
                                            DeviceId device);

  ScopedDevice(ScopedDevice&& other) noexcept;
  ScopedDevice& operator=(ScopedDevice&&) = delete;
  ~ScopedDevice();

 private:
  ScopedDevice(const CudaApi& api, std::optional<int> previous)
      : api_(&api), previous_(previous) {}

  const CudaApi* api_;
  std::optional<int> previous_;  // to go back to; none if it is current
};

}  // namespace gatherd

#endif  // GATHERD_CORE_CUDA_DEVICE_H_
