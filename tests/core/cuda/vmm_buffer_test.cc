#include "core/cuda/vmm_buffer.h"

#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/base/sizes.h"
#include "core/cuda/device.h"
#include "core/cuda/stream.h"
#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {
namespace {

using Strings = std::vector<std::string>;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

std::vector<DeviceId> FirstDevices(int num_devices) {
  std::vector<DeviceId> devices;
  for (int i = 0; i < num_devices; ++i) devices.push_back(DeviceId{i});
  return devices;
}

// On all devices of `fake`, shared.
absl::StatusOr<VmmBuffer> Create(FakeCuda& fake, uint64_t num_bytes,
                                 VmmAccess access = VmmAccess::kShared) {
  return VmmBuffer::Create(fake.api(), FirstDevices(fake.num_devices()),
                           num_bytes, access);
}

TEST_CASE("Parts lie one behind the other, past 4 GiB too") {
  for (const int num_devices : {1, 2, 3, 8}) {
    FakeCuda fake(num_devices);
    {
      const auto buffer = Create(fake, 5 * kGiB + 1);
      REQUIRE(buffer.ok());
      const uint64_t part_bytes = 5 * kGiB + 2 * kMiB;
      CHECK(buffer->num_bytes_per_device() == part_bytes);
      for (int i = 0; i < num_devices; ++i) {
        const auto index = static_cast<uint32_t>(i);
        CHECK(buffer->part(DeviceIndex{index}) ==
              buffer->part(DeviceIndex{0}) + index * part_bytes);
        CHECK(buffer->memory(DeviceIndex{index}).device() == DeviceId{i});
        CHECK(fake.device(i).used_bytes == kGiB + part_bytes);
      }
    }
    CHECK(fake.Live() == Strings{});
    CHECK(fake.misuses() == Strings{});
    CHECK(fake.device(0).used_bytes == kGiB);
  }
}

TEST_CASE("Devices of any numbers can be chosen, in any order") {
  FakeCuda fake(4);
  const std::vector<DeviceId> devices = {DeviceId{3}, DeviceId{1}};
  const auto buffer =
      VmmBuffer::Create(fake.api(), devices, kMiB, VmmAccess::kShared);
  REQUIRE(buffer.ok());
  CHECK(buffer->devices() == devices);
  CHECK(buffer->memory(DeviceIndex{0}).device() == DeviceId{3});
  CHECK(fake.device(3).used_bytes == kGiB + 2 * kMiB);
  CHECK(fake.device(0).used_bytes == kGiB);
  CHECK(fake.misuses() == Strings{});
}

// Whether a kernel on device `on` can write to `part`.
bool CanWrite(const FakeCuda& fake, const VmmBuffer& buffer, uint32_t part,
              int on) {
  const auto stream =
      CudaStream::Create(fake.api(), DeviceId{on}, StreamPriority::kLow);
  const auto scope = ScopedDevice::Enter(fake.api(), DeviceId{on});
  auto* words = reinterpret_cast<uint32_t*>(buffer.part(DeviceIndex{part}));
  return fake.kernels().fill(words, 16, 1, stream->view().handle()) ==
         cudaSuccess;
}

TEST_CASE("Exactly the devices of a shared buffer reach its parts") {
  FakeCuda fake(3);
  const DeviceId devices[] = {DeviceId{0}, DeviceId{2}};
  const auto buffer =
      VmmBuffer::Create(fake.api(), devices, kMiB, VmmAccess::kShared);
  REQUIRE(buffer.ok());
  for (const uint32_t part : {0U, 1U}) {
    CHECK(CanWrite(fake, *buffer, part, 0));
    CHECK(CanWrite(fake, *buffer, part, 2));
    CHECK_FALSE(CanWrite(fake, *buffer, part, 1));
  }
}

TEST_CASE("Without peer access each device reaches its own part alone") {
  FakeCuda fake(2);
  fake.no_access = {{0, 1}, {1, 0}};
  const auto buffer = Create(fake, kMiB, VmmAccess::kOwnerOnly);
  REQUIRE(buffer.ok());
  CHECK(buffer->access() == VmmAccess::kOwnerOnly);
  CHECK(CanWrite(fake, *buffer, 0, 0));
  CHECK(CanWrite(fake, *buffer, 1, 1));
  CHECK_FALSE(CanWrite(fake, *buffer, 0, 1));
  CHECK_FALSE(CanWrite(fake, *buffer, 1, 0));
  CHECK(fake.misuses() == Strings{});
}

TEST_CASE("Sizes are rounded up to what every device's granularity allows") {
  struct Case {
    std::vector<uint64_t> granularities;
    uint64_t num_bytes;
    uint64_t expected;
  };
  for (const Case& c : std::vector<Case>{
           {{2 * kMiB}, 1, 2 * kMiB},
           {{2 * kMiB}, 2 * kMiB, 2 * kMiB},
           {{2 * kMiB, 32 * kMiB}, 33 * kMiB, 64 * kMiB},
           {{64 * kMiB, 2 * kMiB}, kMiB, 64 * kMiB},
           {{3 * kMiB, 2 * kMiB}, 7 * kMiB, 12 * kMiB},
           {{1000, 1, 777}, 1, 777000},
           {{1}, 12345, 12345},
       }) {
    const int num_devices = static_cast<int>(c.granularities.size());
    FakeCuda fake(num_devices);
    for (int i = 0; i < num_devices; ++i) {
      fake.device(i).granularity = c.granularities[static_cast<size_t>(i)];
    }
    const auto buffer = Create(fake, c.num_bytes);
    REQUIRE(buffer.ok());
    CHECK(buffer->num_bytes_per_device() == c.expected);
    CHECK(fake.misuses() == Strings{});
  }
}

TEST_CASE("Granularities that cannot be met are refused") {
  FakeCuda fake(2);
  fake.device(1).granularity = 0;
  const absl::Status zero = Create(fake, kMiB).status();
  CHECK(zero.code() == absl::StatusCode::kInternal);
  CHECK_THAT(std::string(zero.message()), Catch::Contains("device 1"));
  fake.device(0).granularity = (uint64_t{1} << 62) + 1;
  fake.device(1).granularity = uint64_t{1} << 62;
  CHECK(Create(fake, kMiB).status().code() == absl::StatusCode::kInternal);
  CHECK(fake.Live() == Strings{});
}

TEST_CASE("Impossible requests are refused before anything is taken") {
  FakeCuda fake(2);
  const auto code = [&fake](const std::vector<DeviceId>& devices,
                            uint64_t num_bytes) {
    return VmmBuffer::Create(fake.api(), devices, num_bytes, VmmAccess::kShared)
        .status()
        .code();
  };
  CHECK(code({}, kMiB) == absl::StatusCode::kInvalidArgument);
  CHECK(code(FirstDevices(2), 0) == absl::StatusCode::kInvalidArgument);
  CHECK(code({DeviceId{1}, DeviceId{0}, DeviceId{1}}, kMiB) ==
        absl::StatusCode::kInvalidArgument);
  CHECK(code({DeviceId{2}}, kMiB) == absl::StatusCode::kNotFound);
  CHECK(code(FirstDevices(2), kMax) == absl::StatusCode::kResourceExhausted);
  CHECK(code(FirstDevices(2), kMax / 2) ==
        absl::StatusCode::kResourceExhausted);
  CHECK(fake.Live() == Strings{});
}

TEST_CASE("Too little free memory is refused, naming device, need and rest") {
  FakeCuda fake(3);
  fake.device(2).used_bytes = 76 * kGiB;
  CHECK(Create(fake, 64 * kGiB).ok());
  const auto buffer = Create(fake, 65 * kGiB);
  CHECK(buffer.status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(buffer.status().message() ==
        "device 2: 65 GiB (69793218560 bytes) needed, 64 GiB (68719476736 "
        "bytes) free");
  CHECK(fake.Live() == Strings{});
}

void CheckFailure(const absl::Status& status, const FakeCuda::Call& call) {
  const std::string message(status.message());
  CHECK_THAT(message, Catch::Contains(call.name));
  if (call.device.has_value()) {
    CHECK_THAT(message,
               Catch::StartsWith("device " + std::to_string(*call.device)));
  }
  if (call.num_bytes.has_value()) {
    CHECK_THAT(message, Catch::Contains(HumanBytes(*call.num_bytes)));
  }
  const bool takes_memory = call.num_bytes.has_value() &&
                            call.name != "cuMemMap" &&
                            call.name != "cuMemSetAccess";
  CHECK(status.code() == (takes_memory ? absl::StatusCode::kResourceExhausted
                                       : absl::StatusCode::kInternal));
}

void FailAtEveryCall(int num_devices, VmmAccess access) {
  int num_calls = 0;
  {
    FakeCuda fake(num_devices);
    REQUIRE(Create(fake, 5 * kGiB, access).ok());
    num_calls = fake.num_calls();
  }
  CHECK(num_calls >= 6 * num_devices);
  for (int number = 1; number <= num_calls; ++number) {
    FakeCuda fake(num_devices);
    fake.FailCall(number);
    const absl::Status status = Create(fake, 5 * kGiB, access).status();
    const FakeCuda::Call call = fake.failed_call().value();
    INFO("call " << number << ", " << call.name << ": " << status);
    CHECK(fake.Live() == Strings{});
    CHECK(fake.misuses() == Strings{});
    for (int i = 0; i < num_devices; ++i) {
      CHECK(fake.device(i).used_bytes == kGiB);
    }
    // Going back to the device that was current before is beyond help.
    if (status.ok()) {
      CHECK(call.name == "cudaSetDevice");
      continue;
    }
    CheckFailure(status, call);
    CHECK_FALSE(fake.has_last_error());
  }
}

// Known elsewhere: a half-built buffer leaks if the third device has no room.
TEST_CASE("A buffer that fails at any call leaves nothing behind") {
  for (const int num_devices : {1, 2, 3, 8}) {
    FailAtEveryCall(num_devices, VmmAccess::kShared);
    FailAtEveryCall(num_devices, VmmAccess::kOwnerOnly);
  }
}

}  // namespace
}  // namespace gatherd
