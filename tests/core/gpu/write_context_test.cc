#include "core/gpu/write_context.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "core/shard/gpu_layout.h"
#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {
namespace {

constexpr DeviceId kDevices[] = {DeviceId{0}, DeviceId{1}};
constexpr WriteShape kShape = {/*dim=*/4, /*num_keys=*/100,
                               /*value_bytes=*/16};
constexpr uint64_t kWorkspaceBytes = 3000;

// Kernels of which nothing but their need of memory is asked.
kernels::KernelApi Kernels() {
  kernels::KernelApi kernels;
  kernels.WriteWorkspaceBytes = [](uint32_t, uint32_t, kernels::WorkspaceFor) {
    return kWorkspaceBytes;
  };
  kernels.DivideWorkspace = [](void* memory, uint32_t, uint32_t,
                               kernels::WorkspaceFor) {
    kernels::WriteWorkspace workspace;
    workspace.sort_scratch = memory;
    return workspace;
  };
  return kernels;
}

absl::StatusOr<std::unique_ptr<WriteContextPool>> MakePool(FakeCuda& cuda,
                                                           int num_contexts) {
  return WriteContextPool::Create(cuda.api(), Kernels(), kDevices, {kShape},
                                  num_contexts);
}

TEST_CASE("a context's memory is divided without overlaps") {
  FakeCuda cuda(2);
  const auto pool = MakePool(cuda, 1);
  REQUIRE(pool.ok());
  const WriteContextPool::Lease lease = (*pool)->Acquire();
  std::byte* ends[2] = {};
  for (const uint32_t device : {0, 1}) {
    const auto scratch = lease->Divide(DeviceIndex{device}, Kernels(), kShape);
    REQUIRE(scratch.ok());
    const auto address = [](const auto* array) {
      return reinterpret_cast<uintptr_t>(array);
    };
    const uintptr_t starts[] = {
        address(scratch->keys),
        address(scratch->values[0]),
        address(scratch->values[1]),
        address(scratch->retired),
        address(scratch->taken),
        address(scratch->counters),
        address(scratch->num_listed),
        address(static_cast<std::byte*>(scratch->workspace.sort_scratch)),
        address(scratch->all_keys),
        address(static_cast<std::byte*>(scratch->all_workspace.sort_scratch)),
        address(scratch->selection.positions),
        address(scratch->selection.keys),
        address(scratch->selection.count)};
    const uint64_t sizes[] = {800,
                              1600,
                              1600,
                              400,
                              400,
                              20,
                              4,
                              kWorkspaceBytes,
                              kMaxSelectedKeys * 8,
                              kWorkspaceBytes,
                              kMaxSelectedKeys * 4,
                              kMaxSelectedKeys * 8,
                              4};
    static_assert(std::size(starts) == std::size(sizes));
    for (size_t i = 0; i < std::size(starts); ++i) {
      CHECK(starts[i] % 256 == 0);
      if (i > 0) CHECK(starts[i] >= starts[i - 1] + sizes[i - 1]);
    }
    CHECK(scratch->values_bytes == 1600);
    CHECK(starts[12] + sizes[12] <=
          starts[0] + WriteScratchBytes(Kernels(), kShape));
    ends[device] = reinterpret_cast<std::byte*>(scratch->keys);
  }
  CHECK(ends[0] != ends[1]);
}

TEST_CASE("a table of larger steps than the pool was made for is refused") {
  FakeCuda cuda(2);
  const auto pool = MakePool(cuda, 1);
  REQUIRE(pool.ok());
  const WriteContextPool::Lease lease = (*pool)->Acquire();
  WriteShape larger = kShape;
  larger.num_keys = 1000;
  CHECK(absl::IsInternal(
      lease->Divide(DeviceIndex{0}, Kernels(), larger).status()));
}

TEST_CASE("staging has room for all keys and two steps, behind the reports") {
  FakeCuda cuda(2);
  const auto pool = MakePool(cuda, 1);
  REQUIRE(pool.ok());
  const WriteContextPool::Lease lease = (*pool)->Acquire();
  const WriteReport* const last = &lease->report(DeviceIndex{1});
  CHECK(reinterpret_cast<const std::byte*>(last + 1) <=
        reinterpret_cast<const std::byte*>(lease->keys()));
  CHECK(reinterpret_cast<const uint32_t*>(lease->keys() + kMaxSelectedKeys) <=
        lease->positions());
  CHECK(reinterpret_cast<const std::byte*>(
            lease->positions() + kMaxSelectedKeys) <= lease->values(0));
  CHECK(lease->values(0) + kMaxStepBytes <= lease->values(1));
  // ASan sees whether it is there.
  lease->keys()[kMaxSelectedKeys - 1] = 1;
  lease->positions()[kMaxSelectedKeys - 1] = 1;
  lease->values(1)[kMaxStepBytes - 1] = std::byte{1};
}

TEST_CASE("who finds all contexts leased waits for one") {
  FakeCuda cuda(2);
  const auto pool = MakePool(cuda, 2);
  REQUIRE(pool.ok());
  std::optional<WriteContextPool::Lease> first((*pool)->Acquire());
  const WriteContextPool::Lease second = (*pool)->Acquire();
  WriteContext* const context = &**first;
  CHECK(context != &*second);
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    absl::SleepFor(absl::Milliseconds(20));
    is_over = true;
    first.reset();
  });
  const WriteContextPool::Lease third = (*pool)->Acquire();
  CHECK(is_over);
  CHECK(&*third == context);
  writer.join();
}

TEST_CASE("whatever call fails, a pool half made leaves nothing behind") {
  int num_calls = 0;
  {
    FakeCuda cuda(2);
    REQUIRE(MakePool(cuda, 2).ok());
    num_calls = cuda.num_calls();
    CHECK(cuda.Live().empty());
  }
  for (int call = 1; call <= num_calls; ++call) {
    FakeCuda cuda(2);
    cuda.FailCall(call);
    const absl::Status status = MakePool(cuda, 2).status();
    INFO("call " << call << ": " << cuda.failed_call()->name);
    CHECK(cuda.Live().empty());
    CHECK(cuda.misuses().empty());
    // Nobody misses the way back to the device that was current.
    if (status.ok() && cuda.failed_call()->name == "cudaSetDevice") continue;
    CHECK_FALSE(status.ok());
    CHECK(std::string(status.message()).find(cuda.failed_call()->name) !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace gatherd
