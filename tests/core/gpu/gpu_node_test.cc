// What a node takes, and that a failure half way leaves nothing behind.
#include "core/gpu/gpu_node.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/gpu/gpu_table.h"
#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/host_kernels.h"

namespace gatherd {
namespace {

TableSpec Spec(KeySpace key_space, Eviction eviction = Eviction::kNone) {
  TableSpec spec;
  spec.name = "t";
  spec.dim = 8;
  spec.key_space = key_space;
  spec.tiers = {{.kind = TierKind::kGpu, .rows = 1000}};
  spec.eviction = eviction;
  return spec;
}

// A node of two devices with a table of each kind, for a moment.
absl::Status MakeAll(FakeCuda& cuda) {
  GpuNodeOptions options;
  options.devices = {DeviceId{0}, DeviceId{1}};
  options.reply_bytes = 4096;
  options.max_bag_keys = 1000;
  options.lookup_contexts_per_device = 1;
  const std::vector<TableSpec> specs = {
      Spec(KeySpace::kDense), Spec(KeySpace::kHashed),
      Spec(KeySpace::kHashed, Eviction::kLru)};
  absl::Status status = PlanTables(specs, &options);
  if (!status.ok()) return status;
  auto node = GpuNode::Create(cuda.api(), kernels::HostKernels(), options);
  if (!node.ok()) return node.status();
  std::vector<std::unique_ptr<Table>> tables;
  for (const TableSpec& spec : specs) {
    auto table = GpuTable::Create(**node, spec);
    if (!table.ok()) return table.status();
    tables.push_back(*std::move(table));
  }
  return absl::OkStatus();
}

}  // namespace

TEST_CASE("the planned memory is enough for all tables, and is given back") {
  FakeCuda cuda(2);
  CHECK(MakeAll(cuda).ok());
  CHECK(cuda.Live().empty());
  CHECK(cuda.misuses().empty());
}

TEST_CASE("whatever call fails, a node and its tables leave nothing behind") {
  int num_calls = 0;
  {
    FakeCuda cuda(2);
    REQUIRE(MakeAll(cuda).ok());
    num_calls = cuda.num_calls();
  }
  REQUIRE(num_calls > 100);
  int num_failures = 0;
  for (int call = 1; call <= num_calls; ++call) {
    FakeCuda cuda(2);
    cuda.FailCall(call);
    const absl::Status status = MakeAll(cuda);
    INFO("call " << call << " of " << num_calls << ": "
                 << cuda.failed_call()->name << ": " << status.ToString());
    CHECK(cuda.Live().empty());
    CHECK(cuda.misuses().empty());
    // Where a pair of devices fails, each is left to its own rows.
    if (status.ok()) continue;
    ++num_failures;
    CHECK(std::string(status.message()).find(cuda.failed_call()->name) !=
          std::string::npos);
  }
  CHECK(num_failures > num_calls / 2);
}

TEST_CASE("a table that the node has no room for is refused with numbers") {
  FakeCuda cuda(1);
  GpuNodeOptions options;
  options.devices = {DeviceId{0}};
  options.max_bag_keys = 1000;
  const std::vector<TableSpec> specs = {Spec(KeySpace::kDense)};
  REQUIRE(PlanTables(specs, &options).ok());
  auto node = GpuNode::Create(cuda.api(), kernels::HostKernels(), options);
  REQUIRE(node.ok());
  TableSpec larger = specs[0];
  larger.tiers[0].rows = 10'000'000;
  auto table = GpuTable::Create(**node, larger);
  CHECK(absl::IsResourceExhausted(table.status()));
  CHECK(std::string(table.status().message()).find("table \"t\"") == 0);
}

}  // namespace gatherd
