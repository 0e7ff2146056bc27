#include "core/cuda/vmm_arena.h"

#include <limits>
#include <utility>

#include <catch2/catch.hpp>

#include "tests/core/cuda/fake_cuda.h"

namespace gatherd {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

VmmBuffer MakeBuffer(const CudaApi& api, uint64_t num_bytes) {
  const DeviceId devices[] = {DeviceId{0}, DeviceId{1}};
  return *VmmBuffer::Create(api, devices, num_bytes, VmmAccess::kShared);
}

TEST_CASE("Blocks lie at equal offsets of every part") {
  FakeCuda fake(2);
  VmmArena arena(MakeBuffer(fake.api(), 4 * kMiB));
  const auto first = arena.Allocate(1);
  const auto second = arena.Allocate(kMiB + 1);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(first->num_bytes() == 256);
  CHECK(second->num_bytes() == kMiB + 256);
  CHECK(second->part_stride_bytes() == 4 * kMiB);
  for (const DeviceIndex device : {DeviceIndex{0}, DeviceIndex{1}}) {
    CHECK(first->part(device) == arena.buffer().part(device));
    CHECK(second->part(device) == arena.buffer().part(device) + 256);
  }
  CHECK(arena.num_free_bytes() == 3 * kMiB - 512);
}

TEST_CASE("Dropping a block, moved or not, frees its memory and unmaps none") {
  FakeCuda fake(2);
  VmmArena arena(MakeBuffer(fake.api(), 2 * kMiB));
  const auto live = fake.Live();
  {
    auto first = arena.Allocate(kMiB);
    auto second = arena.Allocate(kMiB);
    REQUIRE(first.ok());
    REQUIRE(second.ok());
    CHECK(arena.num_free_bytes() == 0);
    VmmBlock moved = *std::move(first);
    *second = std::move(moved);
    CHECK(second->part(DeviceIndex{0}) == arena.buffer().part(DeviceIndex{0}));
  }
  CHECK(arena.num_free_bytes() == 2 * kMiB);
  CHECK(fake.Live() == live);
  CHECK(arena.Allocate(2 * kMiB).ok());
}

TEST_CASE("A block that does not fit is refused with the numbers") {
  FakeCuda fake(2);
  VmmArena arena(MakeBuffer(fake.api(), 4 * kMiB));
  auto first = arena.Allocate(kMiB);
  const auto second = arena.Allocate(kMiB);
  {
    const auto rest = arena.Allocate(2 * kMiB);
    REQUIRE(rest.ok());
    CHECK(arena.Allocate(1).status().code() ==
          absl::StatusCode::kResourceExhausted);
  }
  { const VmmBlock dropped = *std::move(first); }
  const auto too_large = arena.Allocate(3 * kMiB);
  CHECK(too_large.status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(too_large.status().message() ==
        "3 MiB (3145728 bytes) needed on each device, 3 MiB (3145728 bytes) "
        "free, at most 2097152 of them in one piece; each device has 4 MiB "
        "for tables");
  CHECK(arena.Allocate(std::numeric_limits<uint64_t>::max()).status().code() ==
        absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace gatherd
