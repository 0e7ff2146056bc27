// One update batch on its way into a table: see RowWriter.
#ifndef GATHERD_CORE_TABLE_UPDATE_RUN_H_
#define GATHERD_CORE_TABLE_UPDATE_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "core/rows/row_kernels.h"
#include "core/table/batch.h"
#include "core/table/batch_keys.h"
#include "core/table/slot_pool.h"
#include "core/table/table_storage.h"
#include "core/table/victim_picker.h"

namespace gatherd {

class UpdateRun {
 public:
  // All must outlive the run.
  UpdateRun(TableStorage& storage, SlotPool& pool, EvictionState& eviction,
            const UpdateBatch& batch, const BatchKeys& keys);

  // Applies the batch, which has room. All counts of the result, but not the
  // revision.
  UpdateResult Run();

 private:
  // For eviction: rows that a batch of more keys than the table may hold
  // brings and takes away again. Marks them in dropped_.
  void DropSurplus();
  bool IsDropped(size_t number) const {
    return !dropped_.empty() && dropped_[number];
  }

  // Key `number` of keys(); `old`: its slot, `exists`: whether it has a row.
  void Write(size_t number, uint32_t old, bool exists);
  void MakeRoom();
  void FillRow(size_t number, uint32_t old, std::byte* row);
  void AddUp(size_t number, uint32_t old, std::byte* row);
  void Evict(int64_t key, uint32_t slot);
  const std::byte* Value(uint32_t position) const {
    return batch_.values + position * value_bytes_;
  }

  TableStorage& storage_;
  SlotPool& pool_;
  const UpdateBatch& batch_;
  const BatchKeys& keys_;
  const size_t dim_;
  const size_t value_bytes_;  // of one row of values
  const ConvertRowFn convert_;
  const uint32_t now_;  // for stamps
  std::unique_ptr<VictimPicker> picker_;
  std::vector<bool> dropped_;
  std::vector<float> sum_;  // kAdd
  uint64_t num_rows_;
  UpdateResult result_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_UPDATE_RUN_H_
