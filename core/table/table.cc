#include "core/table/table.h"

namespace gatherd {

absl::StatusOr<UpdateResult> Update(Table& table, const UpdateBatch& batch) {
  auto prepared = table.PrepareUpdate({&batch, 1});
  if (!prepared.ok()) return prepared.status();
  const auto results = (*prepared)->Commit();
  if (!results.ok()) return results.status();
  return results->front();
}

}  // namespace gatherd
