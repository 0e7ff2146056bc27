#include "core/gpu/room_check.h"

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "core/cuda/device_id.h"
#include "core/gpu/step_runner.h"
#include "core/gpu/write_context.h"
#include "core/gpu/write_steps.h"

namespace gatherd {
namespace {

// Of the batches that insert; `storage` holds those of several.
absl::Span<const int64_t> KeysToInsert(absl::Span<const UpdateBatch> batches,
                                       std::vector<int64_t>* storage) {
  absl::Span<const int64_t> keys;
  for (const UpdateBatch& batch : batches) {
    if (batch.mode == UpdateMode::kSetExisting || batch.keys.empty()) continue;
    if (keys.empty()) {
      keys = batch.keys;
      continue;
    }
    if (storage->empty()) storage->assign(keys.begin(), keys.end());
    storage->insert(storage->end(), batch.keys.begin(), batch.keys.end());
    keys = *storage;
  }
  return keys;
}

std::vector<uint64_t> RowsOfShards(const TableState& table) {
  std::vector<uint64_t> rows;
  for (const auto& num : table.rows_of_shard) {
    rows.push_back(num.load(std::memory_order_relaxed));
  }
  return rows;
}

// Distinct keys that each shard has not got.
absl::StatusOr<std::vector<uint64_t>> CountNew(GpuNode& node, TableState& table,
                                               absl::Span<const int64_t> keys) {
  const WriteContextPool::Lease lease = node.writes().Acquire();
  StepRunner runner(node, table, *lease);
  std::vector<uint64_t> num_new(runner.num_shards());
  const auto add_counts = [&] {
    for (uint32_t shard = 0; shard < runner.num_shards(); ++shard) {
      num_new[shard] += runner.counters(shard).num_skipped;
    }
  };
  if (keys.size() <= kMaxSelectedKeys) {
    absl::Status status = runner.CountAll(keys);
    if (!status.ok()) return status;
    add_counts();
    return num_new;
  }
  const WriteSteps steps(keys, StepOptionsOf(table));
  for (const WriteStep& step : steps.steps()) {
    absl::Status status = runner.BeginAndCount(keys, step, /*now=*/0);
    if (!status.ok()) return status;
    add_counts();
  }
  return num_new;
}

absl::Status TableFull(const TableState& table, uint64_t num_new,
                       uint64_t num_rows) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "table \"", table.spec.name, "\" is full: the update brings ", num_new,
      " new keys to ", num_rows, " rows, of which `rows` allows ",
      table.spec.rows(), " and `eviction: none` lets none go"));
}

absl::Status DeviceFull(const TableState& table, DeviceId device,
                        uint64_t num_new, uint64_t num_rows) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "table \"", table.spec.name, "\" is full on device ", Ordinal(device),
      ": the update brings ", num_new, " new keys to ", num_rows,
      " rows there, where ", table.layout.rows_per_shard, " of the ",
      table.spec.rows(),
      " that `rows` says have room and `eviction: none` lets none go"));
}

}  // namespace

absl::Status CheckTableRoom(GpuNode& node, TableState& table,
                            absl::Span<const UpdateBatch> batches) {
  if (!table.hashed() || table.evicts()) return absl::OkStatus();
  std::vector<int64_t> storage;
  const absl::Span<const int64_t> keys = KeysToInsert(batches, &storage);
  if (keys.empty()) return absl::OkStatus();

  const std::vector<uint64_t> rows = RowsOfShards(table);
  const auto shard_fits = [&](size_t shard, uint64_t num_keys) {
    return rows[shard] + num_keys <= table.layout.rows_per_shard;
  };
  const uint64_t num_rows = table.num_rows();
  bool surely_fits = num_rows + keys.size() <= table.spec.rows();
  for (size_t shard = 0; shard < rows.size(); ++shard) {
    surely_fits = surely_fits && shard_fits(shard, keys.size());
  }
  if (surely_fits) return absl::OkStatus();

  const auto num_new = CountNew(node, table, keys);
  if (!num_new.ok()) return num_new.status();
  uint64_t sum = 0;
  for (const uint64_t num : *num_new) sum += num;
  if (num_rows + sum > table.spec.rows()) {
    return TableFull(table, sum, num_rows);
  }
  for (size_t shard = 0; shard < rows.size(); ++shard) {
    const uint64_t num = (*num_new)[shard];
    if (shard_fits(shard, num)) continue;
    const DeviceIndex device{static_cast<uint32_t>(shard)};
    return DeviceFull(table, node.id(device), num, rows[shard]);
  }
  return absl::OkStatus();
}

}  // namespace gatherd
