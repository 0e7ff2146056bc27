#include "core/gpu/write_context.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"
#include "core/cuda/device.h"
#include "core/shard/gpu_layout.h"

namespace gatherd {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kKeysBytes = kMaxSelectedKeys * sizeof(int64_t);
constexpr uint64_t kPositionsBytes = kMaxSelectedKeys * sizeof(uint32_t);
static_assert(kMaxStepKeys <= kMaxSelectedKeys);

uint64_t ReportsBytes(uint64_t num_devices) {
  return AlignUp(num_devices * sizeof(WriteReport), kAlignment);
}

}  // namespace

absl::StatusOr<std::unique_ptr<WriteContext>> WriteContext::Create(
    const CudaApi& api, absl::Span<const DeviceId> devices,
    uint64_t scratch_bytes) {
  std::vector<Lane> lanes;
  for (const DeviceId device : devices) {
    auto stream = CudaStream::Create(api, device, StreamPriority::kLow);
    if (!stream.ok()) return stream.status();
    auto uploads = CudaStream::Create(api, device, StreamPriority::kLow);
    if (!uploads.ok()) return uploads.status();
    std::vector<CudaEvent> uploaded;
    for (uint32_t i = 0; i < kNumValueBuffers; ++i) {
      auto event = CudaEvent::Create(api, device);
      if (!event.ok()) return event.status();
      uploaded.push_back(*std::move(event));
    }
    auto memory =
        DeviceBuffer::Create(api, device, std::max<uint64_t>(scratch_bytes, 1));
    if (!memory.ok()) return memory.status();
    lanes.push_back({*std::move(stream), *std::move(uploads),
                     std::move(uploaded), *std::move(memory)});
  }
  auto pinned = PinnedBuffer::Create(api, devices.front(),
                                     ReportsBytes(devices.size()) + kKeysBytes +
                                         kPositionsBytes +
                                         kNumValueBuffers * kMaxStepBytes);
  if (!pinned.ok()) return pinned.status();
  return std::unique_ptr<WriteContext>(
      new WriteContext(std::move(lanes), *std::move(pinned)));
}

absl::StatusOr<WriteScratch> WriteContext::Divide(
    DeviceIndex device, const kernels::KernelApi& kernels,
    const WriteShape& shape) const {
  const DeviceBuffer& memory = lanes_[static_cast<size_t>(device)].memory;
  const uint64_t num_bytes = WriteScratchBytes(kernels, shape);
  if (num_bytes <= memory.num_bytes()) {
    return DivideScratch(memory.data(), kernels, shape);
  }
  return absl::InternalError(
      absl::StrCat("a write of this table needs ", num_bytes,
                   " bytes of memory on each device; contexts were made with ",
                   memory.num_bytes()));
}

int64_t* WriteContext::keys() const {
  return reinterpret_cast<int64_t*>(pinned_.data() +
                                    ReportsBytes(lanes_.size()));
}

uint32_t* WriteContext::positions() const {
  return reinterpret_cast<uint32_t*>(pinned_.data() +
                                     ReportsBytes(lanes_.size()) + kKeysBytes);
}

std::byte* WriteContext::values(uint32_t buffer) const {
  return pinned_.data() + ReportsBytes(lanes_.size()) + kKeysBytes +
         kPositionsBytes + buffer * kMaxStepBytes;
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

absl::Status WriteContext::WaitForUploads() const {
  absl::Status first_error;
  for (const Lane& lane : lanes_)
    first_error.Update(lane.upload_stream.view().Synchronize());
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
