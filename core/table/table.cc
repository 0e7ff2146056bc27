#include "core/table/table.h"

namespace gatherd {

absl::StatusOr<UpdateResult> Update(Table& table, const UpdateBatch& batch) {
  auto prepared = table.PrepareUpdate({&batch, 1});
  if (!prepared.ok()) return prepared.status();
  return (*prepared)->Commit().front();
}

}  // namespace gatherd
