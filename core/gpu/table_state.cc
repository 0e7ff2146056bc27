#include "core/gpu/table_state.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/cuda/cuda_status.h"
#include "core/cuda/device.h"
#include "core/cuda/pinned_buffer.h"
#include "core/cuda/stream.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/write_shape.h"
#include "core/rows/row_kernels.h"
#include "core/shard/shard_plan.h"

namespace gatherd {
namespace {

TableOffsets OffsetsOf(const GpuTableLayout& layout) {
  TableOffsets offsets;
  offsets.rows = 0;
  offsets.index = offsets.rows + layout.rows_bytes;
  offsets.stamps = offsets.index + layout.index_bytes;
  offsets.free_rows = offsets.stamps + layout.stamps_bytes;
  offsets.default_row = offsets.free_rows + layout.free_list_bytes;
  return offsets;
}

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

// The row as it lies in the table, with zeros behind it.
absl::StatusOr<PinnedBuffer> MakeDefaultRow(GpuNode& node, DeviceIndex device,
                                            const TableSpec& spec,
                                            uint32_t row_stride) {
  auto row = PinnedBuffer::Create(node.api(), node.id(device), row_stride);
  if (!row.ok()) return row.status();
  std::fill_n(row->data(), row_stride, std::byte{0});
  const std::vector<float> values(spec.dim, spec.default_value);
  GetConvertRow(DataType::kFloat32, spec.data_type)(
      reinterpret_cast<const std::byte*>(values.data()), row->data(), spec.dim);
  return row;
}

}  // namespace

uint64_t TableState::BytesPerDevice(const GpuTableLayout& layout) {
  return OffsetsOf(layout).default_row + layout.row_stride;
}

absl::StatusOr<std::unique_ptr<TableState>> TableState::Create(
    GpuNode& node, const TableSpec& spec) {
  auto layout = PlanGpuTable(spec, node.num_devices());
  if (!layout.ok()) return layout.status();
  auto block = node.arena().Allocate(BytesPerDevice(*layout));
  if (!block.ok()) {
    return absl::Status(
        block.status().code(),
        absl::StrCat("table \"", spec.name, "\": ", block.status().message()));
  }
  std::unique_ptr<TableState> state(
      new TableState(spec, *layout, *std::move(block), OffsetsOf(*layout)));
  absl::Status status = state->Initialize(node);
  if (!status.ok()) return status;
  return state;
}

TableState::TableState(const TableSpec& table_spec,
                       const GpuTableLayout& table_layout, VmmBlock table_block,
                       const TableOffsets& table_offsets)
    : spec(table_spec),
      layout(table_layout),
      block(std::move(table_block)),
      offsets(table_offsets),
      rows_of_shard(table_layout.num_shards) {}

absl::Status TableState::Initialize(GpuNode& node) {
  const std::byte* const first = block.part(DeviceIndex{0});
  const uint64_t stride = block.part_stride_bytes();
  kernels::TableRef ref;
  ref.rows = reinterpret_cast<const char*>(first + offsets.rows);
  ref.rows_shard_bytes = stride;
  ref.num_rows = spec.rows();
  ref.row_stride = layout.row_stride;
  ref.shards = kernels::MakeShardDivider(layout.num_shards);
  // Secret, or clients could choose keys that collide.
  ref.seed = RandomSeed();
  if (hashed()) {
    ref.index =
        reinterpret_cast<const kernels::IndexEntry*>(first + offsets.index);
    ref.index_shard_bytes = stride;
    ref.num_buckets = layout.buckets_per_shard;
  }
  if (evicts()) {
    ref.stamps = reinterpret_cast<uint32_t*>(block.part(DeviceIndex{0}) +
                                             offsets.stamps);
    ref.stamps_shard_bytes = stride;
  }
  for (uint32_t i = 0; i < node.num_devices(); ++i) {
    ref.default_row = reinterpret_cast<const char*>(block.part(DeviceIndex{i}) +
                                                    offsets.default_row);
    refs_.push_back(ref);
    absl::Status status = InitializeShard(node, DeviceIndex{i});
    if (!status.ok()) return status;
    if (!hashed()) {
      rows_of_shard[i] =
          DenseRowsOnDevice(spec.rows(), DeviceIndex{i}, layout.num_shards);
    }
  }
  if (hashed()) return absl::OkStatus();
  auto window = DenseWindow::Create(node.api(), node.devices());
  if (!window.ok()) return window.status();
  window_.emplace(*std::move(window));
  return absl::OkStatus();
}

absl::Status TableState::InitializeShard(GpuNode& node, DeviceIndex device) {
  const DeviceId id = node.id(device);
  auto scope = ScopedDevice::Enter(node.api(), id);
  if (!scope.ok()) return scope.status();
  auto row = MakeDefaultRow(node, device, spec, layout.row_stride);
  if (!row.ok()) return row.status();
  auto owned = CudaStream::Create(node.api(), id, StreamPriority::kLow);
  if (!owned.ok()) return owned.status();
  const StreamView stream = owned->view();

  std::byte* const part = block.part(device);
  absl::Status status = stream.CopyAsync(part + offsets.default_row,
                                         row->data(), layout.row_stride);
  if (status.ok() && hashed()) {
    status = stream.FillAsync(part + offsets.index, 0, layout.index_bytes);
    if (status.ok()) {
      status =
          CudaStatus(node.api(),
                     node.kernels().IotaAsync(
                         reinterpret_cast<uint32_t*>(part + offsets.free_rows),
                         static_cast<uint32_t>(layout.slots_per_shard), 0,
                         stream.handle()),
                     {"IotaAsync", id});
    }
  } else if (status.ok()) {
    status = CudaStatus(
        node.api(),
        node.kernels().FillRowsAsync(
            part + offsets.rows, layout.slots_per_shard,
            part + offsets.default_row, layout.row_stride, stream.handle()),
        {"FillRowsAsync", id});
  }
  if (status.ok() && evicts()) {
    status = stream.FillAsync(part + offsets.stamps, 0, layout.stamps_bytes);
  }
  const absl::Status ended = stream.Synchronize();
  return status.ok() ? ended : status;
}

WriteStepsOptions StepOptionsOf(const TableState& table) {
  WriteStepsOptions options;
  options.step_keys = table.layout.step_keys;
  options.step_positions = ShapeOfWrites(table.spec, table.layout).num_keys;
  options.seed = table.ref(DeviceIndex{0}).seed;
  return options;
}

}  // namespace gatherd
