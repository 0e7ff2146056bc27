// The owners, the buffer and the preflight on real devices: one, and two where
// there are two.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "core/base/device_index.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/cuda_status.h"
#include "core/cuda/device.h"
#include "core/cuda/device_buffer.h"
#include "core/cuda/event.h"
#include "core/cuda/pinned_buffer.h"
#include "core/cuda/preflight.h"
#include "core/cuda/stream.h"
#include "core/cuda/vmm_arena.h"
#include "core/cuda/vmm_buffer.h"
#include "core/kernels/pattern.h"
#include "testing/skip.h"

namespace gatherd {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

const CudaApi& Api() { return RealCudaApi(); }

void RequireOk(const absl::Status& status) {
  INFO(status);
  REQUIRE(status.ok());
}

template <typename T>
T Value(absl::StatusOr<T> value) {
  RequireOk(value.status());
  return *std::move(value);
}

std::vector<DeviceId> AllDevices() {
  std::vector<DeviceId> ids;
  for (const DeviceInfo& device : Value(ListDevices(Api()))) {
    ids.push_back(device.id);
  }
  return ids;
}

uint64_t FreeBytes(DeviceId device) {
  return Value(QueryMemory(Api(), device)).free_bytes;
}

void Fill(StreamView stream, std::byte* data, uint64_t num_bytes,
          uint32_t seed) {
  const auto scope = Value(ScopedDevice::Enter(Api(), stream.device()));
  RequireOk(CudaStatus(
      Api(),
      kernels::FillPatternAsync(reinterpret_cast<uint32_t*>(data),
                                num_bytes / 4, seed, stream.handle()),
      {"FillPatternAsync", stream.device(), num_bytes}));
}

uint32_t CountWrong(StreamView stream, const std::byte* data,
                    uint64_t num_bytes, uint32_t seed) {
  const auto count = Value(PinnedBuffer::Create(Api(), stream.device(), 4));
  const auto scope = Value(ScopedDevice::Enter(Api(), stream.device()));
  auto* num_wrong = reinterpret_cast<uint32_t*>(count.data());
  RequireOk(CudaStatus(Api(),
                       kernels::CountWrongWordsAsync(
                           reinterpret_cast<const uint32_t*>(data),
                           num_bytes / 4, seed, num_wrong, stream.handle()),
                       {"CountWrongWordsAsync", stream.device(), num_bytes}));
  RequireOk(stream.Synchronize());
  return *num_wrong;
}

CudaStream MakeStream(DeviceId device) {
  return Value(CudaStream::Create(Api(), device, StreamPriority::kHigh));
}

TEST_CASE("Devices are what the driver says") {
  for (const DeviceInfo& device : Value(ListDevices(Api()))) {
    WARN(DescribeDevice(device));
    CHECK(device.total_bytes > kGiB);
    CHECK(device.num_multiprocessors > 0);
    CHECK(device.pci_id.size() >= 12);
    const DeviceMemory memory = Value(QueryMemory(Api(), device.id));
    CHECK(memory.free_bytes <= memory.total_bytes);
  }
}

TEST_CASE("The preflight passes and says what it found") {
  const PatternKernels kernels = {kernels::FillPatternAsync,
                                  kernels::CountWrongWordsAsync};
  const auto devices = AllDevices();
  const auto report = Value(RunPreflight(Api(), kernels, devices));
  for (const std::string& line : report.Lines()) WARN(line);
  CHECK(report.devices.size() == devices.size());
  CHECK(report.peers.size() == devices.size() * (devices.size() - 1));
  CHECK(report.access == VmmAccess::kShared);
}

TEST_CASE("A pattern passes through pinned and device memory and events") {
  const DeviceId device = AllDevices().back();
  const auto compute = MakeStream(device);
  const auto copy = MakeStream(device);
  const auto filled = Value(CudaEvent::Create(Api(), device));
  const auto on_device = Value(DeviceBuffer::Create(Api(), device, 64 * kMiB));
  const auto on_host = Value(PinnedBuffer::Create(Api(), device, 64 * kMiB));
  Fill(compute.view(), on_device.data(), 64 * kMiB, 7);
  RequireOk(compute.view().RecordAsync(filled.view()));
  RequireOk(copy.view().WaitAsync(filled.view()));
  RequireOk(copy.view().CopyAsync(on_host.data(), on_device.data(), 64 * kMiB));
  RequireOk(copy.view().Synchronize());
  CHECK(Value(filled.view().HasPassed()));
  CHECK(Value(copy.view().IsIdle()));
  // The device reads host memory at the host's own address.
  CHECK(CountWrong(compute.view(), on_host.data(), 64 * kMiB, 7) == 0);
  CHECK(CountWrong(compute.view(), on_host.data(), 64 * kMiB, 8) > 0);
  RequireOk(copy.view().FillAsync(on_device.data(), 0, 64 * kMiB));
  RequireOk(copy.view().Synchronize());
  CHECK(CountWrong(compute.view(), on_device.data(), 64 * kMiB, 7) > 0);
}

// Past 4 GiB on each: an offset of 32 bits would come back to the beginning.
void CheckPatternsOn(const std::vector<DeviceId>& devices, VmmAccess access) {
  const uint64_t part_bytes = 4 * kGiB + 64 * kMiB;
  const VmmBuffer buffer =
      Value(VmmBuffer::Create(Api(), devices, part_bytes, access));
  REQUIRE(buffer.num_bytes_per_device() >= part_bytes);
  const uint64_t offsets[] = {0, 4 * kGiB, part_bytes - 8 * kMiB};
  const auto seed = [](size_t writer, size_t part, size_t i) {
    return static_cast<uint32_t>(1 + writer * 100 + part * 10 + i);
  };
  for (size_t writer = 0; writer < devices.size(); ++writer) {
    const auto stream = MakeStream(devices[writer]);
    for (size_t part = 0; part < devices.size(); ++part) {
      if (access == VmmAccess::kOwnerOnly && part != writer) continue;
      std::byte* data = buffer.part(DeviceIndex{static_cast<uint32_t>(part)});
      for (size_t i = 0; i < 3; ++i) {
        Fill(stream.view(), data + offsets[i], 8 * kMiB, seed(writer, part, i));
      }
    }
    RequireOk(stream.view().Synchronize());
    for (size_t reader = 0; reader < devices.size(); ++reader) {
      const auto reads = MakeStream(devices[reader]);
      for (size_t part = 0; part < devices.size(); ++part) {
        if (access == VmmAccess::kOwnerOnly &&
            (part != writer || reader != writer)) {
          continue;
        }
        const std::byte* data =
            buffer.part(DeviceIndex{static_cast<uint32_t>(part)});
        for (size_t i = 0; i < 3; ++i) {
          CHECK(CountWrong(reads.view(), data + offsets[i], 8 * kMiB,
                           seed(writer, part, i)) == 0);
        }
      }
    }
  }
}

TEST_CASE("One device reads what it wrote, past 4 GiB") {
  for (const DeviceId device : AllDevices()) {
    CheckPatternsOn({device}, VmmAccess::kShared);
  }
}

TEST_CASE("Two devices read each other's part through one range") {
  const auto devices = AllDevices();
  if (devices.size() < 2) GATHERD_SKIP("needs two GPUs");
  CheckPatternsOn(devices, VmmAccess::kShared);
  CheckPatternsOn({devices[1], devices[0]}, VmmAccess::kShared);
}

TEST_CASE("Two devices that share nothing use their parts of one range") {
  const auto devices = AllDevices();
  if (devices.size() < 2) GATHERD_SKIP("needs two GPUs");
  CheckPatternsOn(devices, VmmAccess::kOwnerOnly);
}

TEST_CASE("Blocks of an arena hold their own patterns") {
  const auto devices = AllDevices();
  VmmArena arena(
      Value(VmmBuffer::Create(Api(), devices, 256 * kMiB, VmmAccess::kShared)));
  const auto stream = MakeStream(devices.front());
  const VmmBlock first = Value(arena.Allocate(3 * kMiB + 4));
  const VmmBlock second = Value(arena.Allocate(5 * kMiB));
  const auto last = DeviceIndex{static_cast<uint32_t>(devices.size() - 1)};
  Fill(stream.view(), first.part(last), first.num_bytes(), 1);
  Fill(stream.view(), second.part(last), second.num_bytes(), 2);
  CHECK(CountWrong(stream.view(), first.part(last), first.num_bytes(), 1) == 0);
  CHECK(CountWrong(stream.view(), second.part(last), second.num_bytes(), 2) ==
        0);
}

TEST_CASE("A part can be handed on as a file descriptor") {
  const DeviceId device = AllDevices().front();
  const VmmBuffer buffer =
      Value(VmmBuffer::Create(Api(), {&device, 1}, kMiB, VmmAccess::kShared));
  const int file_descriptor =
      Value(buffer.memory(DeviceIndex{0}).ExportFileDescriptor());
  CHECK(fcntl(file_descriptor, F_GETFD) != -1);
  close(file_descriptor);
}

TEST_CASE("More than is free is refused, naming device, need and rest") {
  const auto devices = AllDevices();
  const uint64_t total = Value(QueryMemory(Api(), devices.front())).total_bytes;
  const absl::Status status =
      VmmBuffer::Create(Api(), devices, total, VmmAccess::kShared).status();
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(status.message()), Catch::StartsWith("device 0: ") &&
                                                Catch::Contains("needed") &&
                                                Catch::Contains("free"));
  // And the driver's own refusal, which the next call does not inherit.
  const absl::Status refused =
      DeviceBuffer::Create(Api(), devices.front(), total + kGiB).status();
  CHECK(refused.code() == absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(refused.message()),
             Catch::Contains("cudaErrorMemoryAllocation"));
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("Memory is back after a buffer's end, a hundred times over") {
  const auto devices = AllDevices();
  const auto make_and_drop = [&devices] {
    const VmmBuffer buffer =
        Value(VmmBuffer::Create(Api(), devices, kGiB, VmmAccess::kShared));
    const auto stream = MakeStream(devices.front());
    const auto workspace =
        Value(DeviceBuffer::Create(Api(), devices.front(), 32 * kMiB));
    Fill(stream.view(), buffer.part(DeviceIndex{0}), kMiB, 1);
    Fill(stream.view(), workspace.data(), kMiB, 2);
    RequireOk(stream.view().Synchronize());
    CHECK(FreeBytes(devices.front()) <
          Value(QueryMemory(Api(), devices.front())).total_bytes - kGiB);
  };
  make_and_drop();
  std::vector<uint64_t> before;
  for (const DeviceId device : devices) before.push_back(FreeBytes(device));
  for (int i = 0; i < 100; ++i) make_and_drop();
  for (size_t i = 0; i < devices.size(); ++i) {
    CHECK(FreeBytes(devices[i]) == before[i]);
  }
}

}  // namespace
}  // namespace gatherd
