#include "tests/core/gpu/gpu_table_kinds.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/gpu/gpu_table.h"

namespace gatherd {
namespace {

std::vector<TierSpec> GpuTier(uint64_t rows) {
  return {{.kind = TierKind::kGpu, .rows = rows}};
}

// The widest rows there are, and ADD to them, take the largest workspace.
TableSpec WidestTable() {
  TableSpec spec;
  spec.name = "widest";
  spec.dim = kMaxDim;
  spec.tiers = GpuTier(100'000);
  return spec;
}

TableSpec LongestTable() {
  TableSpec spec;
  spec.name = "longest";
  spec.dim = 64;
  spec.tiers = GpuTier(1'000'000);
  return spec;
}

}  // namespace

std::unique_ptr<GpuNode> MakeTestNode(const CudaApi& api,
                                      const kernels::KernelApi& kernels,
                                      int num_devices, uint64_t table_bytes) {
  GpuNodeOptions options;
  for (int i = 0; i < num_devices; ++i) options.devices.push_back(DeviceId{i});
  const std::vector<TableSpec> specs = {WidestTable(), LongestTable()};
  absl::Status status = PlanTables(specs, &options);
  options.table_bytes_per_device = table_bytes;
  options.reply_bytes = uint64_t{8} << 20;
  if (status.ok()) {
    auto node = GpuNode::Create(api, kernels, options);
    if (node.ok()) return *std::move(node);
    status = node.status();
  }
  std::fprintf(stderr, "no node: %s\n", status.ToString().c_str());
  std::abort();
}

std::vector<TableKind> GpuTableKinds(GpuNode& node) {
  const uint32_t num_devices = node.num_devices();
  std::vector<TableKind> kinds;
  for (const KeySpace key_space : {KeySpace::kDense, KeySpace::kHashed}) {
    TableKind kind;
    kind.name = absl::StrCat(std::string(KeySpaceName(key_space)), ", ",
                             num_devices, " GPUs");
    kind.key_space = key_space;
    kind.tiers = GpuTier;
    kind.create = [&node](const TableSpec& spec) {
      return GpuTable::Create(node, spec);
    };
    // Each shard gives up its own coldest rows.
    kind.evicts_coldest = num_devices == 1;
    kinds.push_back(kind);
  }
  return kinds;
}

}  // namespace gatherd
