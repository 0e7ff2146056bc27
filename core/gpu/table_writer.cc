#include "core/gpu/table_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/gpu/dense_writer.h"
#include "core/gpu/room_check.h"
#include "core/gpu/write_context.h"
#include "core/table/batch_keys.h"

namespace gatherd {
namespace {

bool Inserts(const UpdateBatch& batch) {
  return batch.mode != UpdateMode::kSetExisting;
}

}  // namespace

TableWriter::TableWriter(GpuNode& node, TableState& table)
    : node_(node), table_(table) {
  if (table.hashed()) hashed_.emplace(node, table);
}

absl::Status TableWriter::CheckRoom(absl::Span<const UpdateBatch> batches) {
  if (!error_.ok()) return error_;
  for (const UpdateBatch& batch : batches) {
    absl::Status status = CheckNumKeys(table_.spec, batch.keys.size());
    if (!status.ok()) return status;
  }
  return CheckTableRoom(node_, table_, batches);
}

absl::StatusOr<UpdateResult> TableWriter::Update(const UpdateBatch& batch) {
  if (!error_.ok()) return error_;
  UpdateResult result;
  result.revision = table_.revision.load(std::memory_order_relaxed);
  if (batch.keys.empty()) return result;

  const WriteContextPool::Lease lease = node_.writes().Acquire();
  StepRunner runner(node_, table_, *lease);
  if (hashed_.has_value()) {
    const auto placed = UpdateHashed(runner, batch, &result);
    if (!placed.ok()) return Remember(placed.status());
    if (!*placed) {
      PublishRevision();
      return NoPlace(runner);
    }
  } else {
    absl::Status status = UpdateDense(runner, batch, &result);
    if (!status.ok()) return Remember(std::move(status));
  }
  result.revision = PublishRevision();
  absl::Status status = Finish(runner);
  if (!status.ok()) return Remember(std::move(status));
  return result;
}

absl::StatusOr<EraseResult> TableWriter::Erase(absl::Span<const int64_t> keys) {
  if (!error_.ok()) return error_;
  absl::Status checked = CheckNumKeys(table_.spec, keys.size());
  if (!checked.ok()) return checked;
  EraseResult result;
  result.revision = table_.revision.load(std::memory_order_relaxed);
  if (keys.empty()) return result;

  const WriteContextPool::Lease lease = node_.writes().Acquire();
  StepRunner runner(node_, table_, *lease);
  const auto num_erased = EraseSteps(runner, keys);
  if (!num_erased.ok()) return Remember(num_erased.status());
  result.num_erased = *num_erased;
  result.revision = PublishRevision();
  absl::Status status = Finish(runner);
  if (!status.ok()) return Remember(std::move(status));
  return result;
}

absl::StatusOr<WriteSteps> TableWriter::CutUpdate(
    StepRunner& runner, const UpdateBatch& batch) const {
  const bool adds = batch.mode == UpdateMode::kAdd;
  const size_t num_keys = batch.keys.size();
  // Of an ADD all positions of a key belong together, and of more keys than an
  // evicting table has rows some are not to be written.
  const bool can_select =
      !adds && num_keys <= kMaxSelectedKeys &&
      !(table_.evicts() && Inserts(batch) && num_keys > table_.spec.rows());
  if (!can_select || (num_keys <= table_.layout.step_keys &&
                      !runner.IsWorthSelecting(batch))) {
    return CutOnHost(batch.keys, adds, Inserts(batch));
  }
  auto steps = runner.Select(batch.keys, &batch);
  if (!steps.ok()) return steps.status();
  return WriteSteps(*std::move(steps));
}

absl::StatusOr<WriteSteps> TableWriter::CutErase(
    StepRunner& runner, absl::Span<const int64_t> keys) const {
  if (keys.size() <= table_.layout.step_keys ||
      keys.size() > kMaxSelectedKeys) {
    return CutOnHost(keys, /*adds=*/false, /*inserts=*/false);
  }
  auto steps = runner.Select(keys, /*batch=*/nullptr);
  if (!steps.ok()) return steps.status();
  return WriteSteps(*std::move(steps));
}

WriteSteps TableWriter::CutOnHost(absl::Span<const int64_t> keys, bool adds,
                                  bool inserts) const {
  WriteStepsOptions options = StepOptionsOf(table_);
  options.adds = adds;
  if (inserts && table_.evicts()) options.max_keys = table_.spec.rows();
  return WriteSteps(keys, options);
}

absl::Status TableWriter::UpdateDense(StepRunner& runner,
                                      const UpdateBatch& batch,
                                      UpdateResult* result) {
  const auto steps = CutUpdate(runner, batch);
  if (!steps.ok()) return steps.status();
  for (const WriteStep& step : steps->steps()) {
    absl::Status status =
        WriteDenseStep(node_, table_, runner, batch, step, result);
    if (!status.ok()) return status;
    if (!step.continues_key) continue;
    const uint64_t row = static_cast<uint64_t>(batch.keys[step.position(0)]);
    --(row < table_.spec.rows() ? result->num_updated : result->num_skipped);
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> TableWriter::UpdateHashed(StepRunner& runner,
                                               const UpdateBatch& batch,
                                               UpdateResult* result) {
  const auto steps = CutUpdate(runner, batch);
  if (!steps.ok()) return steps.status();
  const uint32_t now = table_.Tick();
  absl::Status status = DropSurplus(runner, batch, *steps, result);
  if (!status.ok()) return status;
  if (table_.evicts() && Inserts(batch) && steps->steps().size() > 1) {
    // A key in several steps must be counted once.
    status =
        batch.mode == UpdateMode::kAdd
            ? hashed_->MakeRoom(runner, batch.keys,
                                CutOnHost(batch.keys, false, true), now, result)
            : hashed_->MakeRoom(runner, batch.keys, *steps, now, result);
    if (!status.ok()) return status;
  }
  for (const WriteStep& step : steps->steps()) {
    const auto placed = hashed_->Write(runner, batch, step, now, result);
    if (!placed.ok() || !*placed) return placed;
    // In the table since the step before.
    if (step.continues_key) --result->num_updated;
  }
  return true;
}

// What writing one key after the other into an lru table comes to: these rows
// come and go again, whether they were there before or not.
absl::Status TableWriter::DropSurplus(StepRunner& runner,
                                      const UpdateBatch& batch,
                                      const WriteSteps& steps,
                                      UpdateResult* result) {
  for (const WriteStep& step : steps.surplus()) {
    const auto counts = hashed_->Erase(runner, batch.keys, step);
    if (!counts.ok()) return counts.status();
    result->num_updated += counts->num_existing;
    result->num_inserted += counts->num_absent;
    result->num_evicted += step.num_keys;
    table_.num_evictions.fetch_add(step.num_keys, std::memory_order_relaxed);
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> TableWriter::EraseSteps(
    StepRunner& runner, absl::Span<const int64_t> keys) {
  const auto steps = CutErase(runner, keys);
  if (!steps.ok()) return steps.status();
  uint64_t sum = 0;
  for (const WriteStep& step : steps->steps()) {
    if (hashed_.has_value()) {
      const auto counts = hashed_->Erase(runner, keys, step);
      if (!counts.ok()) return counts.status();
      sum += counts->num_existing;
    } else {
      const auto num = EraseDenseStep(node_, table_, runner, keys, step);
      if (!num.ok()) return num.status();
      sum += *num;
    }
  }
  return sum;
}

// The next write may run on other streams: what is enqueued must end before.
absl::Status TableWriter::Finish(StepRunner& runner) {
  if (hashed_.has_value()) {
    absl::Status status = hashed_->SettleIfDue(runner);
    if (!status.ok()) return status;
  }
  return runner.Wait();
}

absl::Status TableWriter::NoPlace(const StepRunner& runner) const {
  uint64_t num_failed = 0;
  for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
    num_failed += runner.counters(shard).num_failed;
  }
  return absl::InternalError(absl::StrCat(
      "table \"", table_.spec.name, "\": its index has no place for ",
      num_failed, " keys, at ", table_.num_rows(), " of ", table_.spec.rows(),
      " rows; the update was given up part way"));
}

uint64_t TableWriter::PublishRevision() {
  return table_.revision.fetch_add(1, std::memory_order_release) + 1;
}

absl::Status TableWriter::Remember(absl::Status error) {
  error_ = error;
  return error;
}

}  // namespace gatherd
