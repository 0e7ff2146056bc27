// One suite for every kind of owner: made, moved, dropped, and failed at every
// call that making one takes.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/sizes.h"
#include "core/cuda/address_range.h"
#include "core/cuda/device_buffer.h"
#include "core/cuda/event.h"
#include "core/cuda/mapping.h"
#include "core/cuda/physical_memory.h"
#include "core/cuda/pinned_buffer.h"
#include "core/cuda/stream.h"
#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {
namespace {

using Strings = std::vector<std::string>;

constexpr DeviceId kDevice{1};  // of two
constexpr uint64_t kBytes = uint64_t{6} << 20;

// Makes two, moves one about and into the other, and drops them.
template <typename Make>
absl::Status MoveAndDrop(const Make& make) {
  auto first = make();
  if (!first.ok()) return first.status();
  auto second = make();
  if (!second.ok()) return second.status();
  auto moved = *std::move(first);
  *second = std::move(moved);
  return absl::OkStatus();
}

absl::Status MapTwice(const CudaApi& api) {
  absl::StatusOr<AddressRange> range = AddressRange::Create(api, 2 * kBytes, 0);
  if (!range.ok()) return range.status();
  absl::StatusOr<PhysicalMemory> memory =
      PhysicalMemory::Create(api, kDevice, kBytes);
  if (!memory.ok()) return memory.status();
  uint64_t offset = 0;
  return MoveAndDrop([&]() -> absl::StatusOr<Mapping> {
    absl::StatusOr<Mapping> mapping =
        Mapping::Create(api, *range, std::exchange(offset, kBytes), *memory);
    if (!mapping.ok()) return mapping;
    const absl::Status status = mapping->GrantAccess({kDevice});
    if (!status.ok()) return status;
    return mapping;
  });
}

struct Kind {
  const char* name;
  std::function<absl::Status(const CudaApi&)> make_and_drop;
};

std::vector<Kind> Kinds() {
  return {
      {"stream",
       [](const CudaApi& api) {
         return MoveAndDrop([&api] {
           return CudaStream::Create(api, kDevice, StreamPriority::kHigh);
         });
       }},
      {"event",
       [](const CudaApi& api) {
         return MoveAndDrop([&api] { return CudaEvent::Create(api, kDevice); });
       }},
      {"pinned buffer",
       [](const CudaApi& api) {
         return MoveAndDrop(
             [&api] { return PinnedBuffer::Create(api, kDevice, kBytes); });
       }},
      {"device buffer",
       [](const CudaApi& api) {
         return MoveAndDrop(
             [&api] { return DeviceBuffer::Create(api, kDevice, kBytes); });
       }},
      {"physical memory",
       [](const CudaApi& api) {
         return MoveAndDrop(
             [&api] { return PhysicalMemory::Create(api, kDevice, kBytes); });
       }},
      {"address range",
       [](const CudaApi& api) {
         return MoveAndDrop(
             [&api] { return AddressRange::Create(api, kBytes, 0); });
       }},
      {"mapping", MapTwice},
  };
}

void CheckNothingIsLeft(const FakeCuda& fake) {
  CHECK(fake.Live() == Strings{});
  CHECK(fake.misuses() == Strings{});
  CHECK_FALSE(fake.has_last_error());
}

void CheckMessage(const absl::Status& status, const FakeCuda::Call& call) {
  const std::string message(status.message());
  CHECK_THAT(message, Catch::Contains(call.name));
  if (call.num_bytes.has_value()) {
    CHECK_THAT(message, Catch::Contains(HumanBytes(*call.num_bytes)));
  }
  // Addresses belong to no device.
  if (call.name != "cuMemAddressReserve") {
    CHECK_THAT(message, Catch::StartsWith("device 1: "));
  }
}

TEST_CASE("Every owner gives back what it took, wherever making it fails") {
  for (const Kind& kind : Kinds()) {
    INFO(kind.name);
    int num_calls = 0;
    {
      FakeCuda fake(2);
      REQUIRE(kind.make_and_drop(fake.api()).ok());
      CheckNothingIsLeft(fake);
      CHECK(fake.current_device() == 0);
      num_calls = fake.num_calls();
    }
    for (int number = 1; number <= num_calls; ++number) {
      FakeCuda fake(2);
      fake.FailCall(number);
      const absl::Status status = kind.make_and_drop(fake.api());
      const FakeCuda::Call call = fake.failed_call().value();
      INFO("call " << number << ", " << call.name << ": " << status);
      CHECK(fake.Live() == Strings{});
      CHECK(fake.misuses() == Strings{});
      // Going back to the device that was current before is beyond help.
      if (status.ok()) {
        CHECK(call.name == "cudaSetDevice");
      } else {
        CheckMessage(status, call);
        CHECK_FALSE(fake.has_last_error());
      }
    }
  }
}

TEST_CASE("A view enqueues on its stream and reports what fails there") {
  FakeCuda fake(2);
  const auto stream =
      CudaStream::Create(fake.api(), kDevice, StreamPriority::kLow);
  const auto event = CudaEvent::Create(fake.api(), kDevice);
  REQUIRE(stream.ok());
  REQUIRE(event.ok());
  CHECK(fake.last_priority() == 0);
  const StreamView view = stream->view();
  CHECK(view.device() == kDevice);
  char memory[4] = {};
  const std::vector<std::function<absl::Status()>> operations = {
      [&] { return view.CopyAsync(memory, memory + 2, 2); },
      [&] { return view.FillAsync(memory, 1, 4); },
      [&] { return view.RecordAsync(event->view()); },
      [&] { return view.WaitAsync(event->view()); },
      [&] { return view.IsIdle().status(); },
      [&] { return view.Synchronize(); },
      [&] { return event->view().Synchronize(); },
  };
  for (const auto& operation : operations) {
    CHECK(operation().ok());
    fake.FailCall(fake.num_calls() + 1);
    const absl::Status status = operation();
    CHECK(status.code() == absl::StatusCode::kInternal);
    CheckMessage(status, fake.failed_call().value());
    CHECK_FALSE(fake.has_last_error());
  }
  CHECK(fake.misuses() == Strings{});
}

TEST_CASE("Lookups get streams of the highest priority") {
  FakeCuda fake(1);
  CHECK(
      CudaStream::Create(fake.api(), DeviceId{0}, StreamPriority::kHigh).ok());
  CHECK(fake.last_priority() == -5);
}

TEST_CASE("Work that has not ended is no error, and is not kept as one") {
  FakeCuda fake(1);
  fake.events_pass = false;
  const auto event = CudaEvent::Create(fake.api(), DeviceId{0});
  REQUIRE(event.ok());
  const auto has_passed = event->view().HasPassed();
  REQUIRE(has_passed.ok());
  CHECK_FALSE(*has_passed);
  CHECK_FALSE(fake.has_last_error());
}

TEST_CASE("Physical memory is handed on as a file descriptor") {
  FakeCuda fake(1);
  const auto memory = PhysicalMemory::Create(fake.api(), DeviceId{0}, kBytes);
  REQUIRE(memory.ok());
  CHECK(memory->ExportFileDescriptor().value() == 77);
  fake.FailCall(fake.num_calls() + 1);
  CHECK(memory->ExportFileDescriptor().status().message() ==
        "device 0: cuMemExportToShareableHandle of 6 MiB: CUDA_ERROR_FAKE "
        "(made up)");
}

}  // namespace
}  // namespace gatherd
