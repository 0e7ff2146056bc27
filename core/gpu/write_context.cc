#include "core/gpu/write_context.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"
#include "core/cuda/device.h"
#include "core/shard/gpu_layout.h"

namespace gatherd {
namespace {

using kernels::WorkspaceFor;

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kKeysBytes = kMaxStepKeys * sizeof(int64_t);

uint64_t ReportsBytes(uint64_t num_devices) {
  return AlignUp(num_devices * sizeof(WriteReport), kAlignment);
}

// Deals out memory that may not be there yet.
class Cutter {
 public:
  explicit Cutter(std::byte* memory) : memory_(memory) {}

  template <class T>
  T* Take(uint64_t count) {
    std::byte* at = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += AlignUp(count * sizeof(T), kAlignment);
    return reinterpret_cast<T*>(at);
  }

  uint64_t used() const { return used_; }

 private:
  std::byte* const memory_;
  uint64_t used_ = 0;
};

WriteScratch Cut(Cutter& cutter, const kernels::KernelApi& kernels,
                 const WriteShape& shape) {
  const uint32_t num_keys = shape.num_keys;
  WriteScratch scratch;
  scratch.keys = cutter.Take<int64_t>(num_keys);
  scratch.values_bytes = num_keys * shape.value_bytes;
  scratch.values = cutter.Take<std::byte>(scratch.values_bytes);
  scratch.retired = cutter.Take<uint32_t>(num_keys);
  scratch.taken = cutter.Take<uint32_t>(num_keys);
  scratch.counters = cutter.Take<kernels::WriteCounters>(1);
  scratch.num_listed = cutter.Take<uint32_t>(1);
  const uint64_t workspace_bytes =
      kernels.WriteWorkspaceBytes(num_keys, shape.dim, WorkspaceFor::kAdd);
  std::byte* const workspace = cutter.Take<std::byte>(workspace_bytes);
  if (workspace != nullptr) {
    scratch.workspace = kernels.DivideWorkspace(workspace, num_keys, shape.dim,
                                                WorkspaceFor::kAdd);
  }
  return scratch;
}

}  // namespace

uint64_t WriteScratchBytes(const kernels::KernelApi& kernels,
                           const WriteShape& shape) {
  Cutter cutter(nullptr);
  Cut(cutter, kernels, shape);
  return cutter.used();
}

absl::StatusOr<std::unique_ptr<WriteContext>> WriteContext::Create(
    const CudaApi& api, absl::Span<const DeviceId> devices,
    uint64_t scratch_bytes) {
  std::vector<Lane> lanes;
  for (const DeviceId device : devices) {
    auto stream = CudaStream::Create(api, device, StreamPriority::kLow);
    if (!stream.ok()) return stream.status();
    auto memory =
        DeviceBuffer::Create(api, device, std::max<uint64_t>(scratch_bytes, 1));
    if (!memory.ok()) return memory.status();
    lanes.push_back({*std::move(stream), *std::move(memory)});
  }
  auto pinned = PinnedBuffer::Create(
      api, devices.front(),
      ReportsBytes(devices.size()) + kKeysBytes + kMaxStepBytes);
  if (!pinned.ok()) return pinned.status();
  return std::unique_ptr<WriteContext>(
      new WriteContext(std::move(lanes), *std::move(pinned)));
}

absl::StatusOr<WriteScratch> WriteContext::Divide(
    DeviceIndex device, const kernels::KernelApi& kernels,
    const WriteShape& shape) const {
  const DeviceBuffer& memory = lanes_[static_cast<size_t>(device)].memory;
  Cutter cutter(memory.data());
  const WriteScratch scratch = Cut(cutter, kernels, shape);
  if (cutter.used() <= memory.num_bytes()) return scratch;
  return absl::InternalError(
      absl::StrCat("a write of this table needs ", cutter.used(),
                   " bytes of memory on each device; contexts were made with ",
                   memory.num_bytes()));
}

int64_t* WriteContext::keys() const {
  return reinterpret_cast<int64_t*>(pinned_.data() +
                                    ReportsBytes(lanes_.size()));
}

std::byte* WriteContext::values() const {
  return pinned_.data() + ReportsBytes(lanes_.size()) + kKeysBytes;
}

WriteReport& WriteContext::report(DeviceIndex device) const {
  return reinterpret_cast<WriteReport*>(
      pinned_.data())[static_cast<size_t>(device)];
}

absl::Status WriteContext::Wait() const {
  absl::Status first_error;
  for (const Lane& lane : lanes_)
    first_error.Update(lane.stream.view().Synchronize());
  return first_error;
}

WriteContextPool::Lease::~Lease() {
  if (pool_ == nullptr) return;
  absl::MutexLock lock(&pool_->mutex_);
  pool_->free_.push_back(std::move(context_));
}

absl::StatusOr<std::unique_ptr<WriteContextPool>> WriteContextPool::Create(
    const CudaApi& api, const kernels::KernelApi& kernels,
    absl::Span<const DeviceId> devices, absl::Span<const WriteShape> shapes,
    int num_contexts) {
  uint64_t scratch_bytes = 0;
  {
    const auto scope = ScopedDevice::Enter(api, devices.front());
    if (!scope.ok()) return scope.status();
    for (const WriteShape& shape : shapes) {
      scratch_bytes =
          std::max(scratch_bytes, WriteScratchBytes(kernels, shape));
    }
  }
  std::vector<std::unique_ptr<WriteContext>> contexts;
  for (int i = 0; i < num_contexts; ++i) {
    auto context = WriteContext::Create(api, devices, scratch_bytes);
    if (!context.ok()) return context.status();
    contexts.push_back(*std::move(context));
  }
  return std::unique_ptr<WriteContextPool>(
      new WriteContextPool(std::move(contexts)));
}

// absl::Mutex lets in those who wait in about the order in which they came.
WriteContextPool::Lease WriteContextPool::Acquire() {
  absl::MutexLock lock(&mutex_,
                       absl::Condition(this, &WriteContextPool::HasFree));
  std::unique_ptr<WriteContext> context = std::move(free_.back());
  free_.pop_back();
  return Lease(this, std::move(context));
}

}  // namespace gatherd
