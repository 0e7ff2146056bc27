#include "core/gpu/gpu_node.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"
#include "core/cuda/device.h"
#include "core/cuda/pinned_buffer.h"
#include "core/cuda/vmm_buffer.h"
#include "core/gpu/lookup_engine.h"
#include "core/gpu/table_state.h"
#include "core/gpu/write_context.h"
#include "core/shard/gpu_layout.h"

namespace gatherd {

struct GpuNode::Pinned {
  PinnedBuffer replies;
};

absl::Status PlanTables(absl::Span<const TableSpec> specs,
                        GpuNodeOptions* options) {
  const auto num_devices = static_cast<uint32_t>(options->devices.size());
  options->table_bytes_per_device = 0;
  options->write_shapes.clear();
  for (const TableSpec& spec : specs) {
    auto layout = PlanGpuTable(spec, num_devices);
    if (!layout.ok()) return layout.status();
    const std::optional<uint64_t> sum = CheckedAdd(
        options->table_bytes_per_device,
        AlignUp(TableState::BytesPerDevice(*layout), VmmArena::kAlignment));
    if (!sum.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("table \"", spec.name,
                       "\": the gpu tiers take more than 2^64 bytes together"));
    }
    options->table_bytes_per_device = *sum;
    options->write_shapes.push_back(ShapeOfWrites(spec, *layout));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<GpuNode>> GpuNode::Create(
    const CudaApi& api, const kernels::KernelApi& kernels,
    const GpuNodeOptions& options) {
  std::unique_ptr<GpuNode> node(new GpuNode(api, kernels, options));
  absl::Status status = node->Initialize();
  if (!status.ok()) return status;
  return node;
}

GpuNode::GpuNode(const CudaApi& api, const kernels::KernelApi& kernels,
                 const GpuNodeOptions& options)
    : api_(api),
      kernels_(kernels),
      options_(options),
      // A slot for each context; writers and tests do not enter.
      epochs_(std::max<size_t>(
          16, options.devices.size() * options.lookup_contexts_per_device)) {}

GpuNode::~GpuNode() = default;

absl::Status GpuNode::Initialize() {
  auto preflight = RunPreflight(
      api_, {kernels_.FillPatternAsync, kernels_.CountWrongWordsAsync},
      options_.devices);
  if (!preflight.ok()) return preflight.status();
  preflight_ = *std::move(preflight);

  // VmmBuffer wants some bytes, even for a node without gpu tables.
  auto buffer =
      VmmBuffer::Create(api_, options_.devices,
                        std::max<uint64_t>(1, options_.table_bytes_per_device),
                        preflight_.access);
  if (!buffer.ok()) return buffer.status();
  arena_ = std::make_unique<VmmArena>(*std::move(buffer));

  auto replies = PinnedBuffer::Create(
      api_, id(DeviceIndex{0}), std::max<uint64_t>(1, options_.reply_bytes));
  if (!replies.ok()) return replies.status();
  pinned_ = std::make_unique<Pinned>(Pinned{*std::move(replies)});

  auto writes = WriteContextPool::Create(api_, kernels_, options_.devices,
                                         options_.write_shapes,
                                         options_.num_write_contexts);
  if (!writes.ok()) return writes.status();
  writes_ = *std::move(writes);
  auto lookups = LookupEngine::Create(*this);
  if (!lookups.ok()) return lookups.status();
  lookups_ = *std::move(lookups);
  return absl::OkStatus();
}

absl::Span<std::byte> GpuNode::reply_memory() const {
  return {pinned_->replies.data(), pinned_->replies.num_bytes()};
}

bool GpuNode::IsPinned(const void* memory, uint64_t num_bytes) const {
  const absl::Span<std::byte> replies = reply_memory();
  // As numbers: the pointer may be of any other block.
  const auto offset = reinterpret_cast<uintptr_t>(memory) -
                      reinterpret_cast<uintptr_t>(replies.data());
  return offset < replies.size() && num_bytes <= replies.size() - offset;
}

}  // namespace gatherd
