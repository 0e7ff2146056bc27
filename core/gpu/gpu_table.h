// A table in the memory of GPUs: ties its state, the node's lookup engine and
// the write path together, and makes writers take turns.
#ifndef GATHERD_CORE_GPU_GPU_TABLE_H_
#define GATHERD_CORE_GPU_GPU_TABLE_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/table_state.h"
#include "core/gpu/table_writer.h"
#include "core/table/table.h"

namespace gatherd {

class GpuTable final : public Table {
 public:
  // `spec` has one tier, gpu; the node outlives the table. INVALID_ARGUMENT or
  // UNIMPLEMENTED naming table and setting, RESOURCE_EXHAUSTED if the node has
  // not got the memory.
  static absl::StatusOr<std::unique_ptr<Table>> Create(GpuNode& node,
                                                       const TableSpec& spec);

  TableState& state() { return *state_; }

  const TableSpec& spec() const override { return state_->spec; }
  // Waits for the engine; a server submits jobs instead.
  absl::StatusOr<LookupResult> Lookup(const LookupBatch& batch,
                                      const LookupOutput& output) override;
  absl::StatusOr<std::unique_ptr<PreparedUpdate>> PrepareUpdate(
      absl::Span<const UpdateBatch> batches) override;
  absl::StatusOr<EraseResult> Erase(absl::Span<const int64_t> keys) override;
  absl::StatusOr<uint64_t> Scan(const ScanVisitor& visit) override;
  TableStats Stats() const override;

 private:
  class Update;

  GpuTable(GpuNode& node, std::unique_ptr<TableState> state);

  absl::Status ScanKeys(absl::Span<const int64_t> keys,
                        const ScanVisitor& visit, std::vector<std::byte>* rows);

  // Calls visit_key for each key of a shard, and end_block now and then.
  absl::Status ScanIndex(DeviceIndex device,
                         absl::FunctionRef<void(int64_t)> visit_key,
                         absl::FunctionRef<absl::Status()> end_block);

  GpuNode& node_;
  const std::unique_ptr<TableState> state_;
  // One write, or scan, at a time; lookups never take it.
  absl::Mutex write_mutex_;
  TableWriter writer_ ABSL_GUARDED_BY(write_mutex_);
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_GPU_TABLE_H_
