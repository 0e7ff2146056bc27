#include "core/cuda/device.h"

#include <catch2/catch.hpp>

#include "core/base/device_loss.h"
#include "core/cuda/cuda_status.h"
#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {
namespace {

TEST_CASE("Devices are listed with what is known of them") {
  FakeCuda fake(3);
  fake.device(2).total_bytes = uint64_t{80} << 30;
  const auto devices = ListDevices(fake.api());
  REQUIRE(devices.ok());
  REQUIRE(devices->size() == 3);
  CHECK(DescribeDevice((*devices)[2]) ==
        "device 2: Fake H200, 80 GiB, 132 multiprocessors, compute 9.0, PCI "
        "0000:12:00.0, NUMA node 2");
}

TEST_CASE("No device is a failed precondition") {
  FakeCuda fake(0);
  CHECK(ListDevices(fake.api()).status().code() ==
        absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("Memory is that of the device that was asked for") {
  FakeCuda fake(2);
  fake.device(1).used_bytes = uint64_t{40} << 30;
  const auto memory = QueryMemory(fake.api(), DeviceId{1});
  REQUIRE(memory.ok());
  CHECK(memory->free_bytes == uint64_t{100} << 30);
  CHECK(memory->total_bytes == uint64_t{140} << 30);
  CHECK(QueryMemory(fake.api(), DeviceId{2}).status().code() ==
        absl::StatusCode::kNotFound);
}

TEST_CASE("Scopes of devices nest and end where they began") {
  FakeCuda fake(3);
  {
    const auto outer = ScopedDevice::Enter(fake.api(), DeviceId{2});
    REQUIRE(outer.ok());
    CHECK(fake.current_device() == 2);
    {
      const auto inner = ScopedDevice::Enter(fake.api(), DeviceId{1});
      REQUIRE(inner.ok());
      CHECK(fake.current_device() == 1);
    }
    CHECK(fake.current_device() == 2);
    CHECK(ScopedDevice::Enter(fake.api(), DeviceId{2}).ok());
    CHECK_FALSE(ScopedDevice::Enter(fake.api(), DeviceId{9}).ok());
    CHECK(fake.current_device() == 2);
  }
  CHECK(fake.current_device() == 0);
}

TEST_CASE("Errors become statuses with device, call, size and CUDA's word") {
  FakeCuda fake(1);
  const CudaApi& api = fake.api();
  CHECK(CudaStatus(api, cudaSuccess, {"cudaFree"}).ok());
  CHECK(CudaStatus(api, CUDA_SUCCESS, {"cuMemMap"}).ok());
  const absl::Status full =
      CudaStatus(api, cudaErrorMemoryAllocation,
                 {"cudaMalloc", DeviceId{3}, uint64_t{5} << 30});
  CHECK(full.code() == absl::StatusCode::kResourceExhausted);
  CHECK(full.message() ==
        "device 3: cudaMalloc of 5 GiB: cudaErrorFake (made up)");
  const auto code = [&api](auto error) {
    return CudaStatus(api, error, {"a call"}).code();
  };
  CHECK(code(CUDA_ERROR_OUT_OF_MEMORY) == absl::StatusCode::kResourceExhausted);
  CHECK(code(cudaErrorInvalidDevice) == absl::StatusCode::kNotFound);
  CHECK(code(CUDA_ERROR_INVALID_DEVICE) == absl::StatusCode::kNotFound);
  CHECK(code(cudaErrorNoDevice) == absl::StatusCode::kFailedPrecondition);
  CHECK(code(cudaErrorInsufficientDriver) ==
        absl::StatusCode::kFailedPrecondition);
  CHECK(code(CUDA_ERROR_NOT_INITIALIZED) ==
        absl::StatusCode::kFailedPrecondition);
  CHECK(code(cudaErrorIllegalAddress) == absl::StatusCode::kInternal);
  CHECK(code(CUDA_ERROR_ILLEGAL_ADDRESS) == absl::StatusCode::kInternal);
}

TEST_CASE("Errors that outlast a call are device losses, others are not") {
  FakeCuda fake(1);
  const auto is_loss = [&fake](auto error) {
    return IsDeviceLoss(CudaStatus(fake.api(), error, {"a call"}));
  };
  CHECK(is_loss(cudaErrorIllegalAddress));
  CHECK(is_loss(cudaErrorECCUncorrectable));
  CHECK(is_loss(cudaErrorNvlinkUncorrectable));
  CHECK(is_loss(cudaErrorLaunchFailure));
  CHECK_FALSE(is_loss(cudaErrorInvalidValue));
  CHECK_FALSE(is_loss(cudaErrorMemoryAllocation));
  CHECK_FALSE(is_loss(cudaErrorNoDevice));
  CHECK_FALSE(is_loss(CUDA_ERROR_OUT_OF_MEMORY));
}

}  // namespace
}  // namespace gatherd
