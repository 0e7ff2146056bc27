#include "server/gpu_tables.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/table/table_spec.h"

namespace gatherd {
namespace {

absl::Status CheckTable(const TableSpec& spec) {
  if (spec.tiers.front().kind != TierKind::kGpu) return absl::OkStatus();
  if (spec.tiers.size() > 1) {
    return absl::UnimplementedError(absl::StrCat(
        "table '", spec.name, "': `tiers` has gpu above ",
        std::string(TierKindName(spec.tiers[1].kind)),
        "; this version has no caches on GPUs: allowed is gpu alone, or host "
        "alone, or devices: cpu, where tiers are one"));
  }
  if (spec.tiers.front().spread == Spread::kReplicated) {
    return absl::UnimplementedError(absl::StrCat(
        "table '", spec.name,
        "': `spread` of its only tier is replicated, which is for caches; "
        "allowed is sharded"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckGpuTables(absl::Span<const CatalogTableSpec> tables) {
  for (const CatalogTableSpec& table : tables) {
    absl::Status status = CheckTable(table.table);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace gatherd
