#include "core/gpu/shard_rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace gatherd {

ShardRows::ShardRows(uint32_t* ring, uint64_t num_slots, EpochDomain& epochs)
    : ring_(ring),
      num_slots_(num_slots),
      epochs_(epochs),
      num_free_(num_slots) {}

absl::Status ShardRows::Reserve(uint64_t count) {
  while (!quarantines_.empty() &&
         epochs_.HasPassed(quarantines_.front().epoch)) {
    EndOldest();
  }
  while (num_free_ < count) {
    if (quarantines_.empty()) {
      return absl::InternalError(absl::StrCat(
          "out of row slots: ", count, " needed, ", num_free_, " of ",
          num_slots_, " free, ", num_quarantined_, " in quarantine"));
    }
    epochs_.WaitUntilPassed(quarantines_.front().epoch);
    EndOldest();
  }
  return absl::OkStatus();
}

absl::StatusOr<const uint32_t*> ShardRows::Take(uint32_t count,
                                                uint32_t* scratch,
                                                StreamView stream) {
  const uint32_t* rows = ring_ + first_free_;
  const uint64_t before_end = num_slots_ - first_free_;
  if (count > before_end) {
    const uint64_t rest = count - before_end;
    absl::Status status =
        stream.CopyAsync(scratch, rows, before_end * sizeof(uint32_t));
    if (status.ok()) {
      status = stream.CopyAsync(scratch + before_end, ring_,
                                rest * sizeof(uint32_t));
    }
    if (!status.ok()) return status;
    rows = scratch;
  }
  first_free_ = (first_free_ + count) % num_slots_;
  num_free_ -= count;
  return rows;
}

absl::Status ShardRows::Retire(const uint32_t* rows, uint32_t count,
                               StreamView stream) {
  const uint64_t end =
      (first_free_ + num_free_ + num_quarantined_) % num_slots_;
  const uint64_t first = std::min<uint64_t>(count, num_slots_ - end);
  const uint64_t rest = count - first;
  absl::Status status;
  if (first > 0) {
    status = stream.CopyAsync(ring_ + end, rows, first * sizeof(uint32_t));
  }
  if (status.ok() && rest > 0) {
    status = stream.CopyAsync(ring_, rows + first, rest * sizeof(uint32_t));
  }
  if (!status.ok()) return status;
  num_quarantined_ += count;
  num_unsealed_ += count;
  return absl::OkStatus();
}

void ShardRows::Seal(uint64_t epoch) {
  if (num_unsealed_ == 0) return;
  quarantines_.push_back({num_unsealed_, epoch});
  num_unsealed_ = 0;
}

void ShardRows::EndOldest() {
  num_free_ += quarantines_.front().count;
  num_quarantined_ -= quarantines_.front().count;
  quarantines_.pop_front();
}

}  // namespace gatherd
