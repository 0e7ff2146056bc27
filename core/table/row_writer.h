// Writes rows of a table of the CPU backend: the write path. One thread at a
// time (the table's write mutex); lookups go on beside it.
//
// Every row is written to a free slot, published by one store to the index,
// and its old slot retired. Nothing here fails: CheckRoom is asked first.
#ifndef GATHERD_CORE_TABLE_ROW_WRITER_H_
#define GATHERD_CORE_TABLE_ROW_WRITER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/table/batch.h"
#include "core/table/batch_keys.h"
#include "core/table/slot_pool.h"
#include "core/table/table_storage.h"
#include "core/table/victim_picker.h"

namespace gatherd {

class RowWriter {
 public:
  explicit RowWriter(TableStorage& storage);

  // Whether `batches`, applied in order, fit; keys[i] are those of batches[i].
  // RESOURCE_EXHAUSTED if not.
  absl::Status CheckRoom(absl::Span<const UpdateBatch> batches,
                         absl::Span<const BatchKeys> keys) const;

  UpdateResult Update(const UpdateBatch& batch, const BatchKeys& keys);
  EraseResult Erase(const BatchKeys& keys);

 private:
  uint64_t CountAbsent(absl::Span<const int64_t> keys) const;
  uint64_t CountNew(absl::Span<const UpdateBatch> batches,
                    absl::Span<const BatchKeys> keys) const;
  bool EraseKey(int64_t key);
  uint64_t PublishRevision();

  TableStorage& storage_;
  SlotPool pool_;
  EvictionState eviction_;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_ROW_WRITER_H_
