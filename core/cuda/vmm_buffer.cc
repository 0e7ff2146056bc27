#include "core/cuda/vmm_buffer.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"
#include "core/cuda/device.h"

namespace gatherd {
namespace {

absl::Status CheckArguments(absl::Span<const DeviceId> devices,
                            uint64_t num_bytes) {
  if (devices.empty()) {
    return absl::InvalidArgumentError("no devices for a buffer");
  }
  if (num_bytes == 0) {
    return absl::InvalidArgumentError("a buffer of 0 bytes");
  }
  for (auto device = devices.begin(); device != devices.end(); ++device) {
    if (std::find(devices.begin(), device, *device) != device) {
      return absl::InvalidArgumentError(
          absl::StrCat("device ", Ordinal(*device), " is given twice"));
    }
  }
  return absl::OkStatus();
}

// The least common multiple: the largest of them, as long as all are powers of
// two.
absl::StatusOr<uint64_t> CommonGranularity(const CudaApi& api,
                                           absl::Span<const DeviceId> devices) {
  uint64_t common = 1;
  for (const DeviceId device : devices) {
    const absl::StatusOr<uint64_t> granularity =
        PhysicalMemory::Granularity(api, device);
    if (!granularity.ok()) return granularity.status();
    const std::optional<uint64_t> multiple =
        CheckedMul(common, *granularity / std::gcd(common, *granularity));
    if (!multiple.has_value()) {
      return absl::InternalError(absl::StrCat(
          "device ", Ordinal(device), ": a granularity of ", *granularity,
          " bytes does not fit the others' ", common));
    }
    common = *multiple;
  }
  return common;
}

absl::Status CheckFreeMemory(absl::Span<const DeviceId> devices,
                             const std::vector<uint64_t>& free_bytes,
                             uint64_t needed_bytes) {
  for (size_t i = 0; i < devices.size(); ++i) {
    if (free_bytes[i] >= needed_bytes) continue;
    return absl::ResourceExhaustedError(absl::StrCat(
        "device ", Ordinal(devices[i]), ": ", HumanBytes(needed_bytes), " (",
        needed_bytes, " bytes) needed, ", HumanBytes(free_bytes[i]), " (",
        free_bytes[i], " bytes) free"));
  }
  return absl::OkStatus();
}

absl::Status TooLarge(uint64_t num_bytes, size_t num_devices) {
  return absl::ResourceExhaustedError(
      absl::StrCat(num_bytes, " bytes on each of ", num_devices,
                   " devices are more than there are addresses"));
}

uint64_t AlignmentFor(uint64_t granularity) {
  const bool is_power_of_two = (granularity & (granularity - 1)) == 0;
  return is_power_of_two ? granularity : 0;
}

}  // namespace

absl::StatusOr<VmmBuffer> VmmBuffer::Create(const CudaApi& api,
                                            absl::Span<const DeviceId> devices,
                                            uint64_t num_bytes,
                                            VmmAccess access) {
  absl::Status status = CheckArguments(devices, num_bytes);
  if (!status.ok()) return status;
  // The first call for each device, which sets it up for those that follow.
  std::vector<uint64_t> free_bytes;
  for (const DeviceId device : devices) {
    const absl::StatusOr<DeviceMemory> memory = QueryMemory(api, device);
    if (!memory.ok()) return memory.status();
    free_bytes.push_back(memory->free_bytes);
  }
  const absl::StatusOr<uint64_t> granularity = CommonGranularity(api, devices);
  if (!granularity.ok()) return granularity.status();
  const std::optional<uint64_t> part = CheckedAlignUp(num_bytes, *granularity);
  const std::optional<uint64_t> total =
      CheckedMul(part.value_or(num_bytes), devices.size());
  if (!part.has_value() || !total.has_value()) {
    return TooLarge(num_bytes, devices.size());
  }
  status = CheckFreeMemory(devices, free_bytes, *part);
  if (!status.ok()) return status;
  absl::StatusOr<AddressRange> range =
      AddressRange::Create(api, *total, AlignmentFor(*granularity));
  if (!range.ok()) return range.status();
  VmmBuffer buffer({devices.begin(), devices.end()}, access, *part,
                   *std::move(range));
  for (const DeviceId device : devices) {
    status = buffer.MapPart(api, device);
    if (!status.ok()) return status;
  }
  return buffer;
}

absl::Status VmmBuffer::MapPart(const CudaApi& api, DeviceId device) {
  absl::StatusOr<PhysicalMemory> memory =
      PhysicalMemory::Create(api, device, num_bytes_per_device_);
  if (!memory.ok()) return memory.status();
  const uint64_t offset = mappings_.size() * num_bytes_per_device_;
  absl::StatusOr<Mapping> mapping =
      Mapping::Create(api, range_, offset, *memory);
  if (!mapping.ok()) return mapping.status();
  memory_.push_back(*std::move(memory));
  mappings_.push_back(*std::move(mapping));
  return mappings_.back().GrantAccess(access_ == VmmAccess::kShared
                                          ? absl::MakeConstSpan(devices_)
                                          : absl::MakeConstSpan(&device, 1));
}

}  // namespace gatherd
