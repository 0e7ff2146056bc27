#include "core/gpu/step_runner.h"

#include <cstring>

#include "core/cuda/cuda_status.h"
#include "core/cuda/device.h"

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

}  // namespace

StepRunner::StepRunner(GpuNode& node, TableState& table, WriteContext& context)
    : node_(node), table_(table), context_(context) {
  for (uint32_t shard = 0; shard < table.layout.num_shards; ++shard) {
    const DeviceIndex device{shard};
    streams_.push_back(context.stream(device));
    Lane& lane = lanes_.emplace_back();
    lane.device = device;
    WriteBatch& batch = lane.batch;
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
  for (Lane& lane : lanes_) {
    auto scratch = context_.Divide(lane.device, node_.kernels(), shape);
    if (!scratch.ok()) return scratch.status();
    lane.scratch = *scratch;
    lane.batch.keys = scratch->keys;
    lane.batch.values = scratch->values;
    lane.batch.workspace = scratch->workspace;
    lane.batch.counters = scratch->counters;
  }
  return absl::OkStatus();
}

StepRunner::~StepRunner() {
  if (is_busy_) Wait().IgnoreError();  // whoever enqueued it has the error
}

absl::Status StepRunner::Begin(absl::Span<const int64_t> keys,
                               const WriteStep& step, uint32_t now) {
  if (!ready_.ok()) return ready_;
  int64_t* const staged = context_.keys();
  for (uint32_t i = 0; i < step.num_keys; ++i) {
    staged[i] = keys[step.position(i)];
  }
  is_busy_ = true;
  for (uint32_t shard = 0; shard < num_shards(); ++shard) {
    Lane& lane = lanes_[shard];
    lane.batch.num_keys = step.num_keys;
    lane.batch.table.now = now;
    absl::Status status = streams_[shard].CopyAsync(
        lane.scratch.keys, staged, step.num_keys * sizeof(int64_t));
    if (!status.ok()) return status;
  }
  return Launch("DeduplicateAsync", [&](const Lane& lane, cudaStream_t stream) {
    return node_.kernels().DeduplicateAsync(lane.batch, stream);
  });
}

absl::Status StepRunner::Find(UpdateMode mode) {
  for (Lane& lane : lanes_) lane.batch.mode = static_cast<WriteMode>(mode);
  absl::Status status =
      Launch("FindTargetsAsync", [&](const Lane& lane, cudaStream_t stream) {
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
  const size_t row_bytes = RowBytes(batch.data_type, table_.spec.dim);
  std::byte* const staged = context_.values();
  values_bytes_ = step.num_keys * uint64_t{row_bytes};
  if (step.positions.empty()) {
    std::memcpy(staged, batch.values, values_bytes_);
  } else {
    for (uint32_t i = 0; i < step.num_keys; ++i) {
      std::memcpy(staged + i * row_bytes,
                  batch.values + step.positions[i] * row_bytes, row_bytes);
    }
  }
  for (Lane& lane : lanes_) {
    lane.batch.value_type = static_cast<ElementType>(batch.data_type);
  }
  return UploadAgain();
}

absl::Status StepRunner::UploadAgain() {
  is_busy_ = true;
  for (uint32_t shard = 0; shard < num_shards(); ++shard) {
    absl::Status status = streams_[shard].CopyAsync(
        lanes_[shard].scratch.values, context_.values(), values_bytes_);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StepRunner::Undo() {
  return Launch("UndoAsync", [&](const Lane& lane, cudaStream_t stream) {
    return node_.kernels().UndoAsync(lane.batch, stream);
  });
}

absl::Status StepRunner::Evict(
    absl::Span<const kernels::EvictionRequest> requests) {
  absl::Status status =
      Launch("EvictAsync", [&](const Lane& lane, cudaStream_t stream) {
        kernels::EvictionRequest request = requests[lane.batch.shard];
        request.retired = lane.scratch.retired;
        request.num_evicted = lane.scratch.num_listed;
        return node_.kernels().EvictAsync(lane.batch, request, stream);
      });
  if (!status.ok()) return status;
  return FetchNumListed();
}

absl::Status StepRunner::Write(absl::Span<const uint32_t* const> free_rows) {
  const auto rows_of = [&](const Lane& lane) {
    return free_rows.empty() ? nullptr : free_rows[lane.batch.shard];
  };
  absl::Status status = Launch("WriteRowsAsync", [&](const Lane& lane,
                                                     cudaStream_t stream) {
    return node_.kernels().WriteRowsAsync(lane.batch, rows_of(lane), stream);
  });
  if (!status.ok() || free_rows.empty()) return status;
  return Launch("PublishAsync", [&](const Lane& lane, cudaStream_t stream) {
    return node_.kernels().PublishAsync(lane.batch, rows_of(lane),
                                        lane.scratch.retired, stream);
  });
}

absl::Status StepRunner::Erase() {
  return Launch("EraseAsync", [&](const Lane& lane, cudaStream_t stream) {
    uint32_t* const retired = table_.hashed() ? lane.scratch.retired : nullptr;
    return node_.kernels().EraseAsync(lane.batch, retired, stream);
  });
}

absl::Status StepRunner::CopyToFirst() {
  absl::Status status =
      Launch("CopyToFirstAsync", [&](const Lane& lane, cudaStream_t stream) {
        return node_.kernels().CopyToFirstAsync(
            lane.batch.table, lane.batch.shard, SettleListOf(lane), stream);
      });
  if (!status.ok()) return status;
  return FetchNumListed();
}

absl::Status StepRunner::RemoveSeconds() {
  return Launch(
      "RemoveSecondsAsync", [&](const Lane& lane, cudaStream_t stream) {
        return node_.kernels().RemoveSecondsAsync(
            lane.batch.table, lane.batch.shard, SettleListOf(lane), stream);
      });
}

uint32_t StepRunner::settle_capacity(uint32_t shard) const {
  return SettleListOf(lanes_[shard]).capacity;
}

// The values' memory, the largest there is.
kernels::SettleList StepRunner::SettleListOf(const Lane& lane) const {
  kernels::SettleList list;
  list.places = reinterpret_cast<uint32_t*>(lane.scratch.values);
  list.count = lane.scratch.num_listed;
  list.capacity =
      static_cast<uint32_t>(lane.scratch.values_bytes / sizeof(uint32_t));
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
    const std::function<cudaError_t(const Lane&, cudaStream_t)>& launch) {
  is_busy_ = true;
  for (const Lane& lane : lanes_) {
    const DeviceId id = node_.id(lane.device);
    auto scope = ScopedDevice::Enter(node_.api(), id);
    if (!scope.ok()) return scope.status();
    const cudaError_t error = launch(lane, streams_[lane.batch.shard].handle());
    absl::Status status = CudaStatus(node_.api(), error, {name, id});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StepRunner::Wait() {
  is_busy_ = false;
  return context_.Wait();
}

}  // namespace gatherd
