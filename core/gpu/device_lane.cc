#include "core/gpu/device_lane.h"

#include <cstring>
#include <utility>

#include "core/cuda/cuda_status.h"
#include "core/cuda/device.h"

namespace gatherd {
namespace {

using kernels::LookupCounters;

// Both memories: a line for one number, then counters, then words.
constexpr size_t kCountersAt = 128;
constexpr size_t kWordsAt =
    kCountersAt + kernels::kMaxSegments * sizeof(LookupCounters);
static_assert(kWordsAt % sizeof(uint32_t) == 0);

}  // namespace

absl::StatusOr<DeviceLane> DeviceLane::Create(const CudaApi& api,
                                              DeviceIndex index,
                                              DeviceId device,
                                              size_t num_words) {
  const uint64_t num_bytes = kWordsAt + num_words * sizeof(uint32_t);
  auto stream = CudaStream::Create(api, device, StreamPriority::kHigh);
  if (!stream.ok()) return stream.status();
  auto memory = DeviceBuffer::Create(api, device, num_bytes);
  if (!memory.ok()) return memory.status();
  auto report = PinnedBuffer::Create(api, device, num_bytes);
  if (!report.ok()) return report.status();
  std::memset(report->data(), 0, num_bytes);
  absl::Status status = stream->view().FillAsync(memory->data(), 0, num_bytes);
  if (status.ok()) status = stream->view().Synchronize();
  if (!status.ok()) return status;
  return DeviceLane(index, *std::move(stream), *std::move(memory),
                    *std::move(report));
}

uint32_t* DeviceLane::missing_words() const {
  return reinterpret_cast<uint32_t*>(device_.data() + kWordsAt);
}

absl::Status DeviceLane::Launch(const CudaApi& api,
                                const kernels::KernelApi& kernels,
                                kernels::LookupBatch batch, uint64_t sequence) {
  auto scope = ScopedDevice::Enter(api, device_.device());
  if (!scope.ok()) return scope.status();
  batch.this_shard = static_cast<int32_t>(index_);
  batch.blocks_left = reinterpret_cast<uint32_t*>(device_.data());
  batch.counters =
      reinterpret_cast<LookupCounters*>(device_.data() + kCountersAt);
  batch.missing_words = missing_words();
  batch.host_counters =
      reinterpret_cast<LookupCounters*>(report_.data() + kCountersAt);
  batch.host_missing = reinterpret_cast<uint32_t*>(report_.data() + kWordsAt);
  batch.done = reinterpret_cast<uint64_t*>(report_.data());
  batch.sequence = sequence;
  return CudaStatus(api, kernels.LaunchLookup(batch, stream_.view().handle()),
                    {"LaunchLookup", device_.device()});
}

uint64_t DeviceLane::reported() const {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(report_.data()),
                         __ATOMIC_ACQUIRE);
}

const LookupCounters& DeviceLane::counters(int segment) const {
  return reinterpret_cast<const LookupCounters*>(report_.data() +
                                                 kCountersAt)[segment];
}

const uint32_t* DeviceLane::reported_words() const {
  return reinterpret_cast<const uint32_t*>(report_.data() + kWordsAt);
}

}  // namespace gatherd
