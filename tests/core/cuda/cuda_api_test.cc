#include "core/cuda/cuda_api.h"

#include <cstring>
#include <string>

#include <catch2/catch.hpp>

#include "core/cuda/device.h"
#include "core/cuda/vmm_buffer.h"
#include "testing/skip.h"

namespace gatherd {
namespace {

bool HasGpu() {
  int num_devices = 0;
  return RealCudaApi().cudaGetDeviceCount(&num_devices) == cudaSuccess &&
         num_devices > 0;
}

TEST_CASE("The real table has every entry, with a driver or without") {
  const void* entries[sizeof(CudaApi) / sizeof(void*)];
  static_assert(sizeof(entries) == sizeof(CudaApi));
  std::memcpy(entries, &RealCudaApi(), sizeof(entries));
  for (const void* entry : entries) CHECK(entry != nullptr);
}

TEST_CASE("Without a GPU every call says so, and none ends the process") {
  if (HasGpu()) GATHERD_SKIP("this machine has a GPU");
  const CudaApi& api = RealCudaApi();
  const absl::Status status = ListDevices(api).status();
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()),
             Catch::Contains("cudaGetDeviceCount: cudaError"));
  const DeviceId device{0};
  CHECK_FALSE(VmmBuffer::Create(api, {&device, 1}, 1, VmmAccess::kShared).ok());
  CHECK(PhysicalMemory::Granularity(api, device).status().code() ==
        absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace gatherd
