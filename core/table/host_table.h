// A table in host memory: ties storage, read path and write path together and
// makes writers take turns.
#ifndef GATHERD_CORE_TABLE_HOST_TABLE_H_
#define GATHERD_CORE_TABLE_HOST_TABLE_H_

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "core/table/row_writer.h"
#include "core/table/table.h"
#include "core/table/table_storage.h"

namespace gatherd {

class HostTable final : public Table {
 public:
  explicit HostTable(std::unique_ptr<TableStorage> storage);

  const TableSpec& spec() const override { return storage_->spec; }
  absl::StatusOr<LookupResult> Lookup(const LookupBatch& batch,
                                      const LookupOutput& output) override;
  absl::StatusOr<std::unique_ptr<PreparedUpdate>> PrepareUpdate(
      absl::Span<const UpdateBatch> batches) override;
  absl::StatusOr<EraseResult> Erase(absl::Span<const int64_t> keys) override;
  absl::StatusOr<uint64_t> Scan(const ScanVisitor& visit) override;
  TableStats Stats() const override;

 private:
  class Update;

  const std::unique_ptr<TableStorage> storage_;
  // One write, or scan, at a time; lookups never take it.
  absl::Mutex write_mutex_;
  RowWriter writer_ ABSL_GUARDED_BY(write_mutex_);
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_HOST_TABLE_H_
