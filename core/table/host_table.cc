#include "core/table/host_table.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/table/batch_keys.h"
#include "core/table/row_lookup.h"

namespace gatherd {
namespace {

constexpr size_t kScanRows = 1024;
constexpr size_t kScanBytes = size_t{1} << 20;

}  // namespace

// Holds the table's write mutex for as long as it lives, which no scope
// shows: the analysis is left out here, and PrepareUpdate makes the only ones.
class HostTable::Update final : public PreparedUpdate {
 public:
  Update(HostTable& table,
         absl::Span<const UpdateBatch> batches) ABSL_NO_THREAD_SAFETY_ANALYSIS
      : table_(table),
        batches_(batches.begin(), batches.end()) {
    keys_.reserve(batches_.size());
    for (const UpdateBatch& batch : batches_) {
      keys_.emplace_back(batch.keys, table_.storage_->seed);
    }
    table_.write_mutex_.Lock();
  }

  ~Update() override ABSL_NO_THREAD_SAFETY_ANALYSIS {
    table_.write_mutex_.Unlock();
  }

  absl::Status CheckRoom() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return table_.writer_.CheckRoom(batches_, keys_);
  }

  absl::StatusOr<std::vector<UpdateResult>> Commit() override
      ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::vector<UpdateResult> results;
    results.reserve(batches_.size());
    for (size_t i = 0; i < batches_.size(); ++i) {
      results.push_back(table_.writer_.Update(batches_[i], keys_[i]));
    }
    return results;
  }

 private:
  HostTable& table_;
  const std::vector<UpdateBatch> batches_;
  std::vector<BatchKeys> keys_;  // of each batch
};

HostTable::HostTable(std::unique_ptr<TableStorage> storage)
    : storage_(std::move(storage)), writer_(*storage_) {}

absl::StatusOr<LookupResult> HostTable::Lookup(const LookupBatch& batch,
                                               const LookupOutput& output) {
  return LookupRows(*storage_, batch, output);
}

absl::StatusOr<std::unique_ptr<PreparedUpdate>> HostTable::PrepareUpdate(
    absl::Span<const UpdateBatch> batches) {
  for (const UpdateBatch& batch : batches) {
    absl::Status status = CheckNumKeys(spec(), batch.keys.size());
    if (!status.ok()) return status;
  }
  auto update = std::make_unique<Update>(*this, batches);
  if (auto status = update->CheckRoom(); !status.ok()) return status;
  return std::unique_ptr<PreparedUpdate>(std::move(update));
}

absl::StatusOr<EraseResult> HostTable::Erase(absl::Span<const int64_t> keys) {
  absl::Status status = CheckNumKeys(spec(), keys.size());
  if (!status.ok()) return status;
  const BatchKeys distinct(keys, storage_->seed);
  absl::MutexLock lock(&write_mutex_);
  return writer_.Erase(distinct);
}

absl::StatusOr<uint64_t> HostTable::Scan(const ScanVisitor& visit) {
  const size_t row_bytes = spec().row_bytes();
  const size_t block_rows =
      std::clamp<size_t>(kScanBytes / row_bytes, 16, kScanRows);
  std::vector<int64_t> keys(block_rows);
  std::vector<uint32_t> slots(block_rows);
  std::vector<std::byte> rows(block_rows * row_bytes);
  // Slots stay as they are while no writer runs: no epoch is needed.
  absl::MutexLock lock(&write_mutex_);
  uint64_t cursor = 0;
  while (const size_t num = storage_->index->List(&cursor, absl::MakeSpan(keys),
                                                  absl::MakeSpan(slots))) {
    for (size_t i = 0; i < num; ++i) {
      std::memcpy(&rows[i * row_bytes], storage_->arena.row(slots[i]),
                  row_bytes);
    }
    absl::Status status =
        visit(absl::MakeConstSpan(keys).first(num), rows.data());
    if (!status.ok()) return status;
  }
  return storage_->revision.load(std::memory_order_relaxed);
}

TableStats HostTable::Stats() const {
  TableStats stats;
  stats.num_rows = storage_->num_rows.load(std::memory_order_relaxed);
  stats.revision = storage_->revision.load(std::memory_order_acquire);
  for (const TierSpec& tier : spec().tiers) {
    TierStats& tier_stats = stats.tiers.emplace_back();
    tier_stats.kind = tier.kind;
    tier_stats.capacity_rows = tier.rows;
    tier_stats.num_rows = std::min(stats.num_rows, tier.rows);
  }
  // The tiers are one here: the last has the rows and all they take.
  stats.tiers.back().memory_bytes = storage_->num_bytes();
  stats.tiers.back().num_evictions =
      storage_->num_evictions.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace gatherd
