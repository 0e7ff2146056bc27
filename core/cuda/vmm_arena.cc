#include "core/cuda/vmm_arena.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/base/sizes.h"

namespace gatherd {

VmmBlock::VmmBlock(VmmBlock&& other) noexcept
    : arena_(std::exchange(other.arena_, nullptr)),
      offset_(other.offset_),
      num_bytes_(other.num_bytes_) {}

VmmBlock& VmmBlock::operator=(VmmBlock&& other) noexcept {
  std::swap(arena_, other.arena_);
  std::swap(offset_, other.offset_);
  std::swap(num_bytes_, other.num_bytes_);
  return *this;
}

VmmBlock::~VmmBlock() {
  if (arena_ != nullptr) arena_->GiveBack(offset_, num_bytes_);
}

std::byte* VmmBlock::part(DeviceIndex device) const {
  return arena_->buffer().part(device) + offset_;
}

uint64_t VmmBlock::part_stride_bytes() const {
  return arena_->buffer().num_bytes_per_device();
}

// What is beyond the last multiple of the alignment is not dealt out.
VmmArena::VmmArena(VmmBuffer buffer)
    : buffer_(std::move(buffer)),
      free_(buffer_.num_bytes_per_device() / kAlignment * kAlignment) {}

absl::StatusOr<VmmBlock> VmmArena::Allocate(uint64_t num_bytes) {
  const std::optional<uint64_t> needed =
      CheckedAlignUp(std::max<uint64_t>(num_bytes, 1), kAlignment);
  absl::MutexLock lock(&mutex_);
  const std::optional<uint64_t> offset =
      needed.has_value() ? free_.Take(*needed) : std::nullopt;
  if (!offset.has_value()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        HumanBytes(num_bytes), " (", num_bytes,
        " bytes) needed on each device, ", HumanBytes(free_.total()), " (",
        free_.total(), " bytes) free, at most ", free_.largest(),
        " of them in one piece; each device has ",
        HumanBytes(buffer_.num_bytes_per_device()), " for tables"));
  }
  return VmmBlock(this, *offset, *needed);
}

uint64_t VmmArena::num_free_bytes() const {
  absl::MutexLock lock(&mutex_);
  return free_.total();
}

void VmmArena::GiveBack(uint64_t offset, uint64_t num_bytes) {
  absl::MutexLock lock(&mutex_);
  free_.GiveBack(offset, num_bytes);
}

}  // namespace gatherd
