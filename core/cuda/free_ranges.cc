#include "core/cuda/free_ranges.h"

#include <algorithm>
#include <iterator>

namespace gatherd {

FreeRanges::FreeRanges(uint64_t size) : total_(size) {
  if (size > 0) ranges_.emplace(0, size);
}

std::optional<uint64_t> FreeRanges::Take(uint64_t size) {
  const auto range =
      std::find_if(ranges_.begin(), ranges_.end(),
                   [size](const auto& free) { return free.second >= size; });
  if (range == ranges_.end()) return std::nullopt;
  const auto [begin, free_size] = *range;
  const auto next = ranges_.erase(range);
  if (free_size > size) {
    ranges_.emplace_hint(next, begin + size, free_size - size);
  }
  total_ -= size;
  return begin;
}

void FreeRanges::GiveBack(uint64_t begin, uint64_t size) {
  total_ += size;
  auto next = ranges_.lower_bound(begin);
  if (next != ranges_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == begin) {
      begin = previous->first;
      size += previous->second;
      ranges_.erase(previous);
    }
  }
  if (next != ranges_.end() && begin + size == next->first) {
    size += next->second;
    next = ranges_.erase(next);
  }
  ranges_.emplace_hint(next, begin, size);
}

uint64_t FreeRanges::largest() const {
  uint64_t largest = 0;
  for (const auto& [begin, size] : ranges_) largest = std::max(largest, size);
  return largest;
}

}  // namespace gatherd
