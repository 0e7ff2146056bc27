#include "core/gpu/value_uploads.h"

#include <cstring>

namespace gatherd {
namespace {

uint32_t BufferOf(uint32_t part) { return part % kNumValueBuffers; }

// Of values and rows alike: all lanes have the same table.
size_t ValueBytes(absl::Span<const StepLane> lanes, const UpdateBatch& batch) {
  return RowBytes(batch.data_type, lanes.front().batch.dim);
}

// Rows at `positions`, one behind the other.
void CopyRows(const std::byte* rows, size_t row_bytes,
              absl::Span<const uint32_t> positions, std::byte* to) {
  for (const uint32_t position : positions) {
    std::memcpy(to, rows + position * row_bytes, row_bytes);
    to += row_bytes;
  }
}

}  // namespace

bool ValueUploads::ArePinned(const UpdateBatch& batch, uint32_t dim) const {
  return node_.IsPinned(batch.values,
                        batch.keys.size() * RowBytes(batch.data_type, dim));
}

absl::Status ValueUploads::Upload(absl::Span<StepLane> lanes,
                                  const UpdateBatch& batch,
                                  const WriteStep& step) {
  for (StepLane& lane : lanes) {
    lane.batch.value_type = static_cast<kernels::ElementType>(batch.data_type);
  }
  return step.is_selected() ? UploadPart(lanes, batch, step.part)
                            : UploadWhole(lanes, batch, step);
}

absl::Status ValueUploads::UploadWhole(absl::Span<StepLane> lanes,
                                       const UpdateBatch& batch,
                                       const WriteStep& step) {
  const size_t row_bytes = ValueBytes(lanes, batch);
  const uint64_t num_bytes = step.num_keys * uint64_t{row_bytes};
  const std::byte* from = batch.values;
  if (!step.positions.empty()) {
    CopyRows(batch.values, row_bytes, step.positions, context_.values(0));
    from = context_.values(0);
  } else if (!node_.IsPinned(from, num_bytes)) {
    std::memcpy(context_.values(0), from, num_bytes);
    from = context_.values(0);
  }
  for (StepLane& lane : lanes) {
    lane.batch.values = lane.scratch.values[0];
    absl::Status status =
        lane.stream.CopyAsync(lane.scratch.values[0], from, num_bytes);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ValueUploads::UploadPart(absl::Span<StepLane> lanes,
                                      const UpdateBatch& batch,
                                      uint32_t number) {
  if (next_part_ == number) {
    absl::Status status = EnqueueNext(lanes, batch);
    if (!status.ok()) return status;
  }
  for (StepLane& lane : lanes) {
    const uint32_t buffer = BufferOf(number);
    lane.batch.values = lane.scratch.values[buffer];
    absl::Status status =
        lane.stream.WaitAsync(context_.uploaded(lane.device, buffer));
    if (!status.ok()) return status;
  }
  if (next_part_ < selection_.num_parts()) return EnqueueNext(lanes, batch);
  is_ahead_ = false;
  return absl::OkStatus();
}

// Its buffer was that of the step before the last, which has ended.
absl::Status ValueUploads::EnqueueNext(absl::Span<const StepLane> lanes,
                                       const UpdateBatch& batch) {
  is_ahead_ = true;
  absl::Status status = ArePinned(batch, lanes.front().batch.dim)
                            ? Fetch(lanes, batch)
                            : StageAndCopy(lanes, batch);
  for (const StepLane& lane : lanes) {
    if (!status.ok()) return status;
    status =
        context_.upload_stream(lane.device)
            .RecordAsync(context_.uploaded(lane.device, BufferOf(next_part_)));
  }
  ++next_part_;
  return status;
}

absl::Status ValueUploads::Fetch(absl::Span<const StepLane> lanes,
                                 const UpdateBatch& batch) {
  kernels::HostRows rows;
  rows.rows = batch.values;
  rows.row_bytes = static_cast<uint32_t>(ValueBytes(lanes, batch));
  return LaunchOnLanes(
      node_, lanes, "FetchRowsAsync", [&](const StepLane& lane) {
        const auto part = selection_.part(lane.batch.shard, next_part_);
        return node_.kernels().FetchRowsAsync(
            rows, lane.scratch.selection.positions + part.first, part.num_keys,
            lane.scratch.values[BufferOf(next_part_)],
            context_.upload_stream(lane.device).handle());
      });
}

absl::Status ValueUploads::StageAndCopy(absl::Span<const StepLane> lanes,
                                        const UpdateBatch& batch) {
  const size_t row_bytes = ValueBytes(lanes, batch);
  const uint32_t buffer = BufferOf(next_part_);
  std::byte* staged = context_.values(buffer);
  for (const StepLane& lane : lanes) {
    const uint32_t shard = lane.batch.shard;
    const auto part = selection_.part(shard, next_part_);
    if (part.num_keys == 0) continue;
    CopyRows(batch.values, row_bytes,
             {selection_.host_positions(shard) + part.first, part.num_keys},
             staged);
    const uint64_t num_bytes = part.num_keys * uint64_t{row_bytes};
    absl::Status status =
        context_.upload_stream(lane.device)
            .CopyAsync(lane.scratch.values[buffer], staged, num_bytes);
    if (!status.ok()) return status;
    staged += num_bytes;
  }
  return absl::OkStatus();
}

}  // namespace gatherd
