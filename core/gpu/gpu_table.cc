#include "core/gpu/gpu_table.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/synchronization/notification.h"
#include "core/cuda/device.h"
#include "core/cuda/pinned_buffer.h"
#include "core/cuda/stream.h"
#include "core/exec/job.h"
#include "core/gpu/lookup_engine.h"
#include "core/shard/gpu_layout.h"

namespace gatherd {
namespace {

constexpr size_t kScanRows = 4096;
constexpr size_t kScanBytes = size_t{4} << 20;
constexpr uint64_t kScanEntries = uint64_t{64} << 10;

}  // namespace

// Holds the table's write mutex for as long as it lives, which no scope
// shows: the analysis is left out here, and PrepareUpdate makes the only ones.
class GpuTable::Update final : public PreparedUpdate {
 public:
  Update(GpuTable& table,
         absl::Span<const UpdateBatch> batches) ABSL_NO_THREAD_SAFETY_ANALYSIS
      : table_(table),
        batches_(batches.begin(), batches.end()) {
    table_.write_mutex_.Lock();
  }

  ~Update() override ABSL_NO_THREAD_SAFETY_ANALYSIS {
    table_.write_mutex_.Unlock();
  }

  absl::Status CheckRoom() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return table_.writer_.CheckRoom(batches_);
  }

  absl::StatusOr<std::vector<UpdateResult>> Commit() override
      ABSL_NO_THREAD_SAFETY_ANALYSIS {
    std::vector<UpdateResult> results;
    results.reserve(batches_.size());
    for (const UpdateBatch& batch : batches_) {
      auto result = table_.writer_.Update(batch);
      if (!result.ok()) return result.status();
      results.push_back(*result);
    }
    return results;
  }

 private:
  GpuTable& table_;
  const std::vector<UpdateBatch> batches_;
};

absl::StatusOr<std::unique_ptr<Table>> GpuTable::Create(GpuNode& node,
                                                        const TableSpec& spec) {
  absl::Status status = CheckGpuTableSpec(spec);
  if (!status.ok()) return status;
  auto state = TableState::Create(node, spec);
  if (!state.ok()) return state.status();
  return std::unique_ptr<Table>(new GpuTable(node, *std::move(state)));
}

GpuTable::GpuTable(GpuNode& node, std::unique_ptr<TableState> state)
    : node_(node), state_(std::move(state)), writer_(node, *state_) {}

absl::StatusOr<LookupResult> GpuTable::Lookup(const LookupBatch& batch,
                                              const LookupOutput& output) {
  LookupJob job;
  LookupSegment& segment = job.segments.emplace_back();
  segment.table = this;
  segment.batch = batch;
  segment.output = output;
  absl::Status status;
  absl::Notification done;
  job.done = [&](absl::Status result) {
    status = std::move(result);
    done.Notify();
  };
  node_.lookups().Submit(&job);
  done.WaitForNotification();
  if (!status.ok()) return status;
  return job.segments.front().result;
}

absl::StatusOr<std::unique_ptr<PreparedUpdate>> GpuTable::PrepareUpdate(
    absl::Span<const UpdateBatch> batches) {
  auto update = std::make_unique<Update>(*this, batches);
  if (auto status = update->CheckRoom(); !status.ok()) return status;
  return std::unique_ptr<PreparedUpdate>(std::move(update));
}

absl::StatusOr<EraseResult> GpuTable::Erase(absl::Span<const int64_t> keys) {
  absl::MutexLock lock(&write_mutex_);
  return writer_.Erase(keys);
}

absl::Status GpuTable::ScanKeys(absl::Span<const int64_t> keys,
                                const ScanVisitor& visit,
                                std::vector<std::byte>* rows) {
  const size_t block_rows =
      std::clamp<size_t>(kScanBytes / spec().row_bytes(), 16, kScanRows);
  std::vector<uint8_t> missing((block_rows + 7) / 8);
  for (size_t begin = 0; begin < keys.size(); begin += block_rows) {
    LookupBatch batch;
    batch.keys = keys.subspan(begin, block_rows);
    batch.output_type = spec().data_type;
    rows->resize(batch.keys.size() * spec().row_bytes());
    std::fill(missing.begin(), missing.end(), uint8_t{0});
    auto result = Lookup(batch, {rows->data(), missing.data()});
    if (!result.ok()) return result.status();
    absl::Status status = visit(batch.keys, rows->data());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> GpuTable::Scan(const ScanVisitor& visit) {
  std::vector<std::byte> rows;
  std::vector<int64_t> keys;
  absl::MutexLock lock(&write_mutex_);
  const uint64_t revision = state_->revision.load(std::memory_order_acquire);
  if (!state_->hashed()) {
    for (uint64_t first = 0; first < spec().rows(); first += kScanRows) {
      keys.resize(std::min<uint64_t>(kScanRows, spec().rows() - first));
      std::iota(keys.begin(), keys.end(), static_cast<int64_t>(first));
      absl::Status status = ScanKeys(keys, visit, &rows);
      if (!status.ok()) return status;
    }
    return revision;
  }
  // No entry moves while no writer runs: each key is met once.
  for (uint32_t i = 0; i < node_.num_devices(); ++i) {
    absl::Status status = ScanIndex(
        DeviceIndex{i}, [&](int64_t key) { keys.push_back(key); },
        [&] {
          absl::Status visited = ScanKeys(keys, visit, &rows);
          keys.clear();
          return visited;
        });
    if (!status.ok()) return status;
  }
  return revision;
}

absl::Status GpuTable::ScanIndex(DeviceIndex device,
                                 absl::FunctionRef<void(int64_t)> visit_key,
                                 absl::FunctionRef<absl::Status()> end_block) {
  const uint64_t num_entries =
      uint64_t{state_->layout.buckets_per_shard} * kernels::kEntriesPerBucket;
  const uint64_t block = std::min(num_entries, kScanEntries);
  auto entries = PinnedBuffer::Create(node_.api(), node_.id(device),
                                      block * sizeof(kernels::IndexEntry));
  if (!entries.ok()) return entries.status();
  auto stream =
      CudaStream::Create(node_.api(), node_.id(device), StreamPriority::kLow);
  if (!stream.ok()) return stream.status();
  const auto* const from = reinterpret_cast<const kernels::IndexEntry*>(
      state_->block.part(device) + state_->offsets.index);
  const auto* const read =
      reinterpret_cast<const kernels::IndexEntry*>(entries->data());
  for (uint64_t first = 0; first < num_entries; first += block) {
    const uint64_t count = std::min(block, num_entries - first);
    absl::Status status = stream->view().CopyAsync(
        entries->data(), from + first, count * sizeof(kernels::IndexEntry));
    if (status.ok()) status = stream->view().Synchronize();
    if (!status.ok()) return status;
    for (uint64_t i = 0; i < count; ++i) {
      if ((read[i].meta & kernels::kStateMask) == kernels::kValid) {
        visit_key(read[i].key);
      }
    }
    status = end_block();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

TableStats GpuTable::Stats() const {
  TableStats stats;
  stats.num_rows = state_->num_rows();
  stats.revision = state_->revision.load(std::memory_order_acquire);
  TierStats& tier = stats.tiers.emplace_back();
  tier.kind = TierKind::kGpu;
  tier.capacity_rows = spec().rows();
  tier.num_rows = stats.num_rows;
  tier.memory_bytes = state_->block.num_bytes() * node_.num_devices();
  tier.num_evictions = state_->num_evictions.load(std::memory_order_relaxed);
  for (const auto& rows : state_->rows_of_shard) {
    tier.rows_per_device.push_back(rows.load(std::memory_order_relaxed));
  }
  return stats;
}

}  // namespace gatherd
