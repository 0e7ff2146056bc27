#include "core/gpu/hashed_writer.h"

#include <algorithm>

namespace gatherd {
namespace {

// Attempts to place the keys of a step, the index being settled in between. At
// the load of a full table one key in a million needs a second one
// (docs/gpu_engine.md).
constexpr int kMaxAttempts = 8;

// The index is settled when the table's rows divided by this have changed, but
// for small tables less often: it takes four launches and a grace period.
constexpr uint64_t kSettleShare = 10;
constexpr uint64_t kMinChanges = 1024;

// What one pass leaves is for the next write, rather than to make one wait.
constexpr int kMaxPasses = 16;

std::vector<ShardRows> AllFree(GpuNode& node, const TableState& table) {
  std::vector<ShardRows> rows;
  rows.reserve(table.layout.num_shards);
  for (uint32_t shard = 0; shard < table.layout.num_shards; ++shard) {
    rows.emplace_back(
        reinterpret_cast<uint32_t*>(table.block.part(DeviceIndex{shard}) +
                                    table.offsets.free_rows),
        table.layout.slots_per_shard, node.epochs());
  }
  return rows;
}

bool SomeFailed(const StepRunner& runner) {
  for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
    if (runner.counters(shard).num_failed != 0) return true;
  }
  return false;
}

}  // namespace

HashedWriter::HashedWriter(GpuNode& node, TableState& table)
    : node_(node),
      table_(table),
      rows_(AllFree(node, table)),
      evictor_(node, table, rows_) {}

absl::Status HashedWriter::MakeRoom(StepRunner& runner,
                                    absl::Span<const int64_t> keys,
                                    const WriteSteps& steps, uint32_t now,
                                    UpdateResult* result) {
  if (!MayOverflow(keys.size())) return absl::OkStatus();
  std::vector<ShardLoad> sum(rows_.size());
  // The first one last: its keys are the ones that are kept by all means.
  for (size_t i = steps.steps().size(); i-- > 0;) {
    const WriteStep& step = steps.steps()[i];
    auto loads = CountKeys(runner, keys, step, now);
    if (!loads.ok()) return loads.status();
    for (size_t shard = 0; shard < sum.size(); ++shard) {
      sum[shard].num_rows = (*loads)[shard].num_rows;
      sum[shard].num_absent += (*loads)[shard].num_absent;
      sum[shard].num_existing += (*loads)[shard].num_existing;
    }
  }
  auto num_gone = evictor_.MakeRoom(runner, std::move(sum));
  if (!num_gone.ok()) return num_gone.status();
  result->num_evicted += *num_gone;
  num_changes_ += *num_gone;
  return absl::OkStatus();
}

absl::StatusOr<bool> HashedWriter::Write(StepRunner& runner,
                                         const UpdateBatch& batch,
                                         const WriteStep& step, uint32_t now,
                                         UpdateResult* result) {
  if (batch.mode != UpdateMode::kSetExisting && table_.evicts() &&
      MayOverflow(step.num_keys)) {
    auto loads = CountKeys(runner, batch.keys, step, now);
    if (!loads.ok()) return loads.status();
    auto num_gone = evictor_.MakeRoom(runner, *std::move(loads));
    if (!num_gone.ok()) return num_gone.status();
    result->num_evicted += *num_gone;
    num_changes_ += *num_gone;
  } else {
    absl::Status status = runner.Begin(batch.keys, step, now);
    if (!status.ok()) return status;
  }
  auto placed = FindPlaces(runner, batch, step);
  if (!placed.ok() || !*placed) return placed;
  absl::Status status = Publish(runner, result);
  if (!status.ok()) return status;
  return true;
}

absl::StatusOr<EraseCounts> HashedWriter::Erase(StepRunner& runner,
                                                absl::Span<const int64_t> keys,
                                                const WriteStep& step) {
  absl::Status status = runner.Begin(keys, step, /*now=*/0);
  if (status.ok()) status = runner.Find(UpdateMode::kSetExisting);
  if (status.ok()) status = runner.Erase();
  if (status.ok()) status = runner.Wait();
  if (!status.ok()) return status;
  EraseCounts counts;
  for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
    const uint32_t num_gone = runner.counters(shard).num_existing;
    counts.num_existing += num_gone;
    counts.num_absent += runner.counters(shard).num_skipped;
    table_.rows_of_shard[shard].fetch_sub(num_gone, std::memory_order_relaxed);
    status = rows_[shard].Retire(runner.scratch(shard).retired, num_gone,
                                 runner.stream(shard));
    if (!status.ok()) return status;
  }
  SealAll();
  num_changes_ += counts.num_existing;
  return counts;
}

absl::Status HashedWriter::SettleIfDue(StepRunner& runner) {
  const uint64_t limit =
      std::max(table_.spec.rows() / kSettleShare, kMinChanges);
  return num_changes_ < limit ? absl::OkStatus() : Settle(runner);
}

// Begins a step and finds out how many of its keys there are already.
absl::StatusOr<std::vector<ShardLoad>> HashedWriter::CountKeys(
    StepRunner& runner, absl::Span<const int64_t> keys, const WriteStep& step,
    uint32_t now) const {
  absl::Status status = runner.BeginAndCount(keys, step, now);
  if (!status.ok()) return status;
  std::vector<ShardLoad> loads;
  for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
    loads.push_back(
        {table_.rows_of_shard[shard].load(std::memory_order_relaxed),
         runner.counters(shard).num_skipped,
         runner.counters(shard).num_existing});
  }
  return loads;
}

// Whether the rows of so many new keys might not fit.
bool HashedWriter::MayOverflow(uint64_t num_keys) const {
  for (const auto& rows : table_.rows_of_shard) {
    if (rows.load(std::memory_order_relaxed) + num_keys >
        table_.layout.rows_per_shard) {
      return true;
    }
  }
  return table_.num_rows() + num_keys > table_.spec.rows();
}

absl::StatusOr<bool> HashedWriter::FindPlaces(StepRunner& runner,
                                              const UpdateBatch& batch,
                                              const WriteStep& step) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    absl::Status status = runner.Find(batch.mode);
    if (status.ok()) {
      // While the devices find, values come, once.
      if (attempt == 0) status = runner.Upload(batch, step);
    }
    if (status.ok()) status = runner.Wait();
    if (!status.ok()) return status;
    if (!SomeFailed(runner)) return true;
    // The counters stay for whoever wants to know why.
    status = runner.Undo();
    if (status.ok()) status = Settle(runner);
    if (!status.ok()) return status;
  }
  return false;
}

absl::Status HashedWriter::Publish(StepRunner& runner, UpdateResult* result) {
  std::vector<const uint32_t*> taken;
  for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
    const kernels::WriteCounters& counters = runner.counters(shard);
    const uint32_t count = counters.num_existing + counters.num_inserted;
    absl::Status status = rows_[shard].Reserve(count);
    if (!status.ok()) return status;
    auto rows = rows_[shard].Take(count, runner.scratch(shard).taken,
                                  runner.stream(shard));
    if (!rows.ok()) return rows.status();
    taken.push_back(*rows);
  }
  absl::Status status = runner.Write(taken);
  for (uint32_t shard = 0; status.ok() && shard < rows_.size(); ++shard) {
    status = rows_[shard].Retire(runner.scratch(shard).retired,
                                 runner.counters(shard).num_existing,
                                 runner.stream(shard));
  }
  if (status.ok()) status = runner.Wait();
  if (!status.ok()) return status;
  SealAll();
  for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
    const kernels::WriteCounters& counters = runner.counters(shard);
    table_.rows_of_shard[shard].fetch_add(counters.num_inserted,
                                          std::memory_order_relaxed);
    result->num_updated += counters.num_existing;
    result->num_inserted += counters.num_inserted;
    result->num_skipped += counters.num_skipped;
    num_changes_ += counters.num_inserted;
  }
  return absl::OkStatus();
}

absl::Status HashedWriter::Settle(StepRunner& runner) {
  bool is_done = false;
  for (int pass = 0; !is_done && pass < kMaxPasses; ++pass) {
    absl::Status status = runner.CopyToFirst();
    if (status.ok()) status = runner.Wait();
    if (!status.ok()) return status;
    is_done = true;
    for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
      if (runner.num_listed(shard) > runner.settle_capacity(shard)) {
        is_done = false;
      }
    }
    // Lookups that began earlier may be on their way to the second buckets.
    node_.epochs().WaitUntilPassed(node_.epochs().Advance());
    status = runner.RemoveSeconds();
    if (status.ok()) status = runner.Wait();
    if (!status.ok()) return status;
  }
  num_changes_ = 0;
  return absl::OkStatus();
}

void HashedWriter::SealAll() {
  const uint64_t epoch = node_.epochs().Advance();
  for (ShardRows& rows : rows_) rows.Seal(epoch);
}

}  // namespace gatherd
