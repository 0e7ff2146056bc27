#include "core/gpu/dense_writer.h"

#include <functional>

namespace gatherd {
namespace {

absl::Status RunInWindow(GpuNode& node, TableState& table, StepRunner& runner,
                         const std::function<absl::Status()>& enqueue) {
  absl::Status status =
      node.gate().Open(*table.window(), runner.streams(), enqueue);
  if (status.ok()) status = runner.Wait();
  if (status.ok()) table.window()->Close();
  return status;
}

uint64_t SumExisting(const StepRunner& runner) {
  uint64_t sum = 0;
  for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
    sum += runner.counters(shard).num_existing;
  }
  return sum;
}

}  // namespace

absl::Status WriteDenseStep(GpuNode& node, TableState& table,
                            StepRunner& runner, const UpdateBatch& batch,
                            const WriteStep& step, UpdateResult* result) {
  absl::Status status = runner.Begin(batch.keys, step, /*now=*/0);
  if (status.ok()) status = runner.Find(batch.mode);
  if (status.ok()) status = runner.Upload(batch, step);
  if (status.ok()) status = runner.Wait();
  if (!status.ok()) return status;
  const uint64_t num_existing = SumExisting(runner);
  result->num_updated += num_existing;
  for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
    result->num_skipped += runner.counters(shard).num_skipped;
  }
  if (num_existing == 0) return absl::OkStatus();
  return RunInWindow(node, table, runner, [&] { return runner.Write({}); });
}

absl::StatusOr<uint64_t> EraseDenseStep(GpuNode& node, TableState& table,
                                        StepRunner& runner,
                                        absl::Span<const int64_t> keys,
                                        const WriteStep& step) {
  absl::Status status = runner.Begin(keys, step, /*now=*/0);
  if (status.ok()) status = runner.Find(UpdateMode::kSetExisting);
  if (status.ok()) status = runner.Wait();
  if (!status.ok()) return status;
  const uint64_t num_existing = SumExisting(runner);
  if (num_existing == 0) return 0;
  status = RunInWindow(node, table, runner, [&] { return runner.Erase(); });
  if (!status.ok()) return status;
  return num_existing;
}

}  // namespace gatherd
