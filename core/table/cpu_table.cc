#include "core/table/cpu_table.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/table/host_table.h"
#include "core/table/table_storage.h"

namespace gatherd {

absl::StatusOr<std::unique_ptr<Table>> CreateCpuTable(const TableSpec& spec) {
  absl::Status status = ValidateTableSpec(spec);
  if (!status.ok()) return status;
  for (const TierSpec& tier : spec.tiers) {
    if (tier.kind == TierKind::kGpu || tier.kind == TierKind::kHost) continue;
    return absl::UnimplementedError(
        absl::StrCat("table \"", spec.name, "\": tier ",
                     std::string(TierKindName(tier.kind)),
                     " is not supported yet; gpu and host are"));
  }
  auto storage = TableStorage::Create(spec);
  if (!storage.ok()) return storage.status();
  return std::make_unique<HostTable>(*std::move(storage));
}

uint64_t CpuTableMemoryBytes(const TableSpec& spec) {
  return TableStorage::MemoryBytes(spec);
}

}  // namespace gatherd
