// The tables of the CPU backend keep the contract.
#include "core/table/cpu_table.h"
#include "tests/core/table/table_contract.h"

namespace gatherd {
namespace {

std::vector<TierSpec> HostTier(uint64_t rows) {
  return {{.kind = TierKind::kHost, .rows = rows}};
}

std::vector<TierSpec> GpuOverHost(uint64_t rows) {
  return {{.kind = TierKind::kGpu, .rows = rows / 4 + 1},
          {.kind = TierKind::kHost, .rows = rows}};
}

TableKind Kind(const char* name, KeySpace key_space,
               std::vector<TierSpec> (*tiers)(uint64_t)) {
  TableKind kind;
  kind.name = name;
  kind.key_space = key_space;
  kind.tiers = tiers;
  kind.create = CreateCpuTable;
  return kind;
}

}  // namespace

const std::vector<TableKind>& TableKinds() {
  static const auto* const kinds = new std::vector<TableKind>{
      Kind("dense", KeySpace::kDense, HostTier),
      Kind("dense, gpu over host", KeySpace::kDense, GpuOverHost),
      Kind("hashed", KeySpace::kHashed, HostTier),
      Kind("hashed, gpu over host", KeySpace::kHashed, GpuOverHost),
  };
  return *kinds;
}

}  // namespace gatherd
