#include "core/gpu/step_runner.h"

#include <algorithm>

#include "core/cuda/device.h"
#include "core/kernels/dedup.h"

namespace gatherd {
namespace {

using kernels::ElementType;
using kernels::WriteBatch;
using kernels::WriteMode;

static_assert(static_cast<int>(UpdateMode::kSet) ==
              static_cast<int>(WriteMode::kSet));
static_assert(static_cast<int>(UpdateMode::kAdd) ==
              static_cast<int>(WriteMode::kAdd));
static_assert(static_cast<int>(UpdateMode::kSetExisting) ==
              static_cast<int>(WriteMode::kSetExisting));
static_assert(static_cast<int>(DataType::kFloat32) ==
              static_cast<int>(ElementType::kFloat32));
static_assert(static_cast<int>(DataType::kInt8) ==
              static_cast<int>(ElementType::kInt8));

// The least bytes of values for which a write that is one step is cut by owner.
// An estimate: that takes one more wait for the devices, some 50 µs, in which
// 2.6 MiB come over PCIe, and saves two devices half the values each.
constexpr uint64_t kMinSelectedBytes = uint64_t{6} << 20;

}  // namespace

StepRunner::StepRunner(GpuNode& node, TableState& table, WriteContext& context)
    : node_(node),
      table_(table),
      context_(context),
      selection_(node, context),
      uploads_(node, context, selection_) {
  lanes_.reserve(table.layout.num_shards);
  for (uint32_t shard = 0; shard < table.layout.num_shards; ++shard) {
    const DeviceIndex device{shard};
    streams_.push_back(context.stream(device));
    lanes_.push_back({device, streams_.back(), {}, {}});
    WriteBatch& batch = lanes_.back().batch;
    batch.table = table.ref(device);
    batch.shard = shard;
    batch.dim = table.spec.dim;
    batch.table_type = static_cast<ElementType>(table.spec.data_type);
  }
  ready_ = DivideContext();
}

absl::Status StepRunner::DivideContext() {
  // Of the devices, which are all alike, one must be current.
  const auto scope = ScopedDevice::Enter(node_.api(), node_.id(DeviceIndex{0}));
  if (!scope.ok()) return scope.status();
  const WriteShape shape = ShapeOfWrites(table_.spec, table_.layout);
  for (StepLane& lane : lanes_) {
    auto scratch = context_.Divide(lane.device, node_.kernels(), shape);
    if (!scratch.ok()) return scratch.status();
    lane.scratch = *scratch;
    lane.batch.workspace = scratch->workspace;
    lane.batch.counters = scratch->counters;
  }
  return absl::OkStatus();
}

StepRunner::~StepRunner() {
  if (!is_busy_ && !uploads_.is_ahead()) return;
  // Whoever enqueued it has the error.
  context_.WaitForUploads().IgnoreError();
  Wait().IgnoreError();
}

absl::StatusOr<std::vector<WriteStep>> StepRunner::Select(
    absl::Span<const int64_t> keys, const UpdateBatch* batch) {
  if (!ready_.ok()) return ready_;
  // Copies of values on the host are made for all devices together.
  const bool copies =
      batch != nullptr && !uploads_.ArePinned(*batch, table_.spec.dim);
  const uint32_t step_keys =
      copies ? std::max(1u, table_.layout.step_keys / num_shards())
             : table_.layout.step_keys;
  is_busy_ = true;
  absl::Status status = selection_.Select(lanes_, keys, step_keys);
  if (status.ok() && copies) status = selection_.FetchPositions(lanes_);
  if (!status.ok()) return status;
  is_busy_ = false;
  uploads_.Restart();
  return selection_.Steps();
}

absl::Status StepRunner::CountAll(absl::Span<const int64_t> keys) {
  if (!ready_.ok()) return ready_;
  is_busy_ = true;
  absl::Status status = selection_.Count(lanes_, keys);
  if (status.ok()) is_busy_ = false;
  return status;
}

bool StepRunner::IsWorthSelecting(const UpdateBatch& batch) const {
  const uint64_t num_bytes =
      batch.keys.size() * RowBytes(batch.data_type, table_.spec.dim);
  return num_shards() > 1 && num_bytes >= kMinSelectedBytes &&
         uploads_.ArePinned(batch, table_.spec.dim);
}

absl::Status StepRunner::Begin(absl::Span<const int64_t> keys,
                               const WriteStep& step, uint32_t now) {
  if (!ready_.ok()) return ready_;
  is_busy_ = true;
  for (StepLane& lane : lanes_) {
    lane.batch.table.now = now;
    if (!step.is_selected()) continue;
    const auto part = selection_.part(lane.batch.shard, step.part);
    lane.batch.keys = lane.scratch.selection.keys + part.first;
    lane.batch.num_keys = part.num_keys;
  }
  if (!step.is_selected()) {
    absl::Status status = UploadKeys(keys, step);
    if (!status.ok()) return status;
  }
  return Launch("DeduplicateAsync",
                [&](const StepLane& lane, cudaStream_t stream) {
                  return node_.kernels().DeduplicateAsync(lane.batch, stream);
                });
}

absl::Status StepRunner::UploadKeys(absl::Span<const int64_t> keys,
                                    const WriteStep& step) {
  const uint64_t num_bytes = step.num_keys * sizeof(int64_t);
  const int64_t* from = keys.data();
  if (!step.positions.empty() || !node_.IsPinned(from, num_bytes)) {
    int64_t* const staged = context_.keys();
    for (uint32_t i = 0; i < step.num_keys; ++i) {
      staged[i] = keys[step.position(i)];
    }
    from = staged;
  }
  for (StepLane& lane : lanes_) {
    lane.batch.keys = lane.scratch.keys;
    lane.batch.num_keys = step.num_keys;
    absl::Status status =
        lane.stream.CopyAsync(lane.scratch.keys, from, num_bytes);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StepRunner::Find(UpdateMode mode) {
  for (StepLane& lane : lanes_) lane.batch.mode = static_cast<WriteMode>(mode);
  absl::Status status = Launch(
      "FindTargetsAsync", [&](const StepLane& lane, cudaStream_t stream) {
        return node_.kernels().FindTargetsAsync(lane.batch, stream);
      });
  for (uint32_t shard = 0; status.ok() && shard < num_shards(); ++shard) {
    status = streams_[shard].CopyAsync(
        &context_.report(lanes_[shard].device).counters,
        lanes_[shard].scratch.counters, sizeof(kernels::WriteCounters));
  }
  return status;
}

absl::Status StepRunner::BeginAndCount(absl::Span<const int64_t> keys,
                                       const WriteStep& step, uint32_t now) {
  absl::Status status = Begin(keys, step, now);
  if (status.ok()) status = Find(UpdateMode::kSetExisting);
  if (status.ok()) status = Wait();
  return status;
}

absl::Status StepRunner::Upload(const UpdateBatch& batch,
                                const WriteStep& step) {
  is_busy_ = true;
  return uploads_.Upload(absl::MakeSpan(lanes_), batch, step);
}

absl::Status StepRunner::Undo() {
  return Launch("UndoAsync", [&](const StepLane& lane, cudaStream_t stream) {
    return node_.kernels().UndoAsync(lane.batch, stream);
  });
}

absl::Status StepRunner::Evict(
    absl::Span<const kernels::EvictionRequest> requests) {
  absl::Status status =
      Launch("EvictAsync", [&](const StepLane& lane, cudaStream_t stream) {
        kernels::EvictionRequest request = requests[lane.batch.shard];
        request.retired = lane.scratch.retired;
        request.num_evicted = lane.scratch.num_listed;
        return node_.kernels().EvictAsync(lane.batch, request, stream);
      });
  if (!status.ok()) return status;
  return FetchNumListed();
}

absl::Status StepRunner::Write(absl::Span<const uint32_t* const> free_rows) {
  const auto rows_of = [&](const StepLane& lane) {
    return free_rows.empty() ? nullptr : free_rows[lane.batch.shard];
  };
  absl::Status status = Launch("WriteRowsAsync", [&](const StepLane& lane,
                                                     cudaStream_t stream) {
    return node_.kernels().WriteRowsAsync(lane.batch, rows_of(lane), stream);
  });
  if (!status.ok() || free_rows.empty()) return status;
  return Launch("PublishAsync", [&](const StepLane& lane, cudaStream_t stream) {
    return node_.kernels().PublishAsync(lane.batch, rows_of(lane),
                                        lane.scratch.retired, stream);
  });
}

absl::Status StepRunner::Erase() {
  return Launch("EraseAsync", [&](const StepLane& lane, cudaStream_t stream) {
    uint32_t* const retired = table_.hashed() ? lane.scratch.retired : nullptr;
    return node_.kernels().EraseAsync(lane.batch, retired, stream);
  });
}

absl::Status StepRunner::CopyToFirst() {
  absl::Status status = Launch(
      "CopyToFirstAsync", [&](const StepLane& lane, cudaStream_t stream) {
        return node_.kernels().CopyToFirstAsync(
            lane.batch.table, lane.batch.shard, SettleListOf(lane), stream);
      });
  if (!status.ok()) return status;
  return FetchNumListed();
}

absl::Status StepRunner::RemoveSeconds() {
  return Launch(
      "RemoveSecondsAsync", [&](const StepLane& lane, cudaStream_t stream) {
        return node_.kernels().RemoveSecondsAsync(
            lane.batch.table, lane.batch.shard, SettleListOf(lane), stream);
      });
}

uint32_t StepRunner::settle_capacity(uint32_t shard) const {
  return SettleListOf(lanes_[shard]).capacity;
}

// Where the keys of a whole write are deduplicated, the largest memory that is
// free while steps run.
kernels::SettleList StepRunner::SettleListOf(const StepLane& lane) const {
  kernels::SettleList list;
  list.places = lane.scratch.all_workspace.dedup;
  list.count = lane.scratch.num_listed;
  list.capacity = kernels::NumDedupSlots(kMaxSelectedKeys);
  return list;
}

absl::Status StepRunner::FetchNumListed() {
  for (uint32_t shard = 0; shard < num_shards(); ++shard) {
    absl::Status status = streams_[shard].CopyAsync(
        &context_.report(lanes_[shard].device).num_listed,
        lanes_[shard].scratch.num_listed, sizeof(uint32_t));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StepRunner::Launch(
    const char* name,
    absl::FunctionRef<cudaError_t(const StepLane&, cudaStream_t)> launch) {
  is_busy_ = true;
  return LaunchOnLanes(node_, lanes_, name, [&](const StepLane& lane) {
    return launch(lane, lane.stream.handle());
  });
}

absl::Status StepRunner::Wait() {
  is_busy_ = false;
  return context_.Wait();
}

}  // namespace gatherd
