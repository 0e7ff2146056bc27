// Places that are not found, and errors of CUDA half way through a write. On
// the fake of CUDA, with kernels of the host.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/host_kernels.h"
#include "tests/core/gpu/table_rig.h"

namespace gatherd {
namespace {

using Catch::Matchers::Contains;
using kernels::KernelApi;

// Kernels of which FindTargetsAsync says, `num_left` times, that a key of shard
// 0 found no place.
std::atomic<int> num_left{0};
std::atomic<int> num_undone{0};
std::atomic<int> num_settled{0};

KernelApi FailingToPlace() {
  KernelApi api = kernels::HostKernels();
  api.FindTargetsAsync = [](const kernels::WriteBatch& batch,
                            cudaStream_t stream) {
    const cudaError_t error =
        kernels::HostKernels().FindTargetsAsync(batch, stream);
    if (batch.shard == 0 && num_left > 0) {
      --num_left;
      batch.counters->num_failed = 1;
    }
    return error;
  };
  api.UndoAsync = [](const kernels::WriteBatch& batch, cudaStream_t stream) {
    ++num_undone;
    return kernels::HostKernels().UndoAsync(batch, stream);
  };
  api.CopyToFirstAsync = [](const kernels::TableRef& ref, uint32_t shard,
                            const kernels::SettleList& list,
                            cudaStream_t stream) {
    ++num_settled;
    return kernels::HostKernels().CopyToFirstAsync(ref, shard, list, stream);
  };
  return api;
}

TEST_CASE("a key that finds no place gets one in a settled index") {
  FakeCuda cuda(2);
  const KernelApi kernels = FailingToPlace();
  TableRig rig(cuda, 2, RigSpec(KeySpace::kHashed, 100), kernels);
  num_left = 3;
  num_undone = num_settled = 0;
  const auto keys = KeyRange(0, 100);
  const auto result = rig.SetToKeys(keys);
  REQUIRE(result.ok());
  CHECK(result->num_inserted == 100);
  CHECK(num_undone == 6);
  CHECK(num_settled == 6);
  CHECK(rig.Read(keys) == ToFloats(keys));
}

TEST_CASE("if no place is found the write fails, and the table does not") {
  FakeCuda cuda(1);
  const KernelApi kernels = FailingToPlace();
  TableRig rig(cuda, 1, RigSpec(KeySpace::kHashed, 100), kernels);
  REQUIRE(rig.SetToKeys({1, 2}).ok());
  num_left = 8;
  const auto failed = rig.SetToKeys({2, 3, 4}).status();
  CHECK(absl::IsInternal(failed));
  CHECK_THAT(std::string(failed.message()),
             Contains("\"words\"") && Contains("no place for 1 keys") &&
                 Contains("2 of 100 rows"));
  CHECK(num_left == 0);
  CHECK(rig.Read({1, 2, 3, 4}) == std::vector<float>{1, 2, -1, -1});
  CHECK(rig.SetToKeys({2, 3, 4})->num_inserted == 2);
}

TEST_CASE("the index is settled after every tenth of the table") {
  FakeCuda cuda(1);
  const KernelApi kernels = FailingToPlace();
  TableRig rig(cuda, 1, RigSpec(KeySpace::kHashed, 50'000), kernels);
  num_left = num_settled = 0;
  REQUIRE(rig.SetToKeys(KeyRange(0, 4999)).ok());
  CHECK(num_settled == 0);
  REQUIRE(rig.SetToKeys(KeyRange(0, 4999)).ok());  // nothing comes or goes
  CHECK(num_settled == 0);
  REQUIRE(rig.table().Erase({7}).ok());
  CHECK(num_settled == 1);
  REQUIRE(rig.table().Erase(KeyRange(0, 4999)).ok());
  CHECK(num_settled == 1);
}

// Whatever call of a write fails, the write says so, and so do those after it:
// half of it may be there. A check for room that fails has changed nothing.
enum class Rows { kPinned, kPageable };

void FailEveryCall(const TableSpec& spec, int num_devices,
                   const std::vector<int64_t>& before,
                   const std::vector<int64_t>& keys,
                   Rows rows = Rows::kPageable) {
  int num_failures = 0;
  for (int call = 1;; ++call) {
    FakeCuda cuda(num_devices);
    {
      TableRig rig(cuda, num_devices, spec);
      REQUIRE(rig.SetToKeys(before).ok());
      cuda.FailCall(cuda.num_calls() + call);
      const absl::Status status =
          (rows == Rows::kPinned ? rig.WritePinned(keys, ToFloats(keys))
                                 : rig.SetToKeys(keys))
              .status();
      if (!cuda.failed_call().has_value()) break;  // that was all of them
      INFO("call " << call << ": " << cuda.failed_call()->name);
      if (status.ok()) {
        // Back to the device that was current before.
        CHECK(cuda.failed_call()->name == "cudaSetDevice");
        continue;
      }
      ++num_failures;
      CHECK_THAT(std::string(status.message()),
                 Contains(cuda.failed_call()->name));
      const absl::Status later = rig.SetToKeys(before).status();
      CHECK((later == status || later.ok()));
      if (later.ok()) CHECK(rig.Read(before) == ToFloats(before));
    }
    CHECK(cuda.Live().empty());
    CHECK(cuda.misuses().empty());
  }
  CHECK(num_failures > 15);
}

TEST_CASE("whatever call of a write fails, the write and later ones fail") {
  FailEveryCall(RigSpec(KeySpace::kDense, 1000), 2, {1, 2}, KeyRange(0, 300));
  FailEveryCall(RigSpec(KeySpace::kHashed, 100), 2, KeyRange(0, 80),
                KeyRange(70, 30));
  // Three steps of a selection, or five, each with the values of the next on
  // their way: keys out of range belong to the first device.
  for (const Rows rows : {Rows::kPinned, Rows::kPageable}) {
    FailEveryCall(RigSpec(KeySpace::kDense, 100), 2, {1, 2}, KeyRange(-70, 150),
                  rows);
  }
  FailEveryCall(RigSpec(KeySpace::kHashed, 100, 1, Eviction::kLru), 2,
                KeyRange(0, 80), KeyRange(70, 50));
}

}  // namespace
}  // namespace gatherd
