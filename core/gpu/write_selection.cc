#include "core/gpu/write_selection.h"

#include <algorithm>

#include "core/base/sizes.h"

namespace gatherd {

using kernels::WriteMode;

absl::Status WriteSelection::Deduplicate(absl::Span<const StepLane> lanes,
                                         absl::Span<const int64_t> keys) {
  const int64_t* from = keys.data();
  if (!node_.IsPinned(from, keys.size() * sizeof(int64_t))) {
    from = std::copy(keys.begin(), keys.end(), context_.keys()) - keys.size();
  }
  batches_.clear();
  for (const StepLane& lane : lanes) {
    kernels::WriteBatch& batch = batches_.emplace_back(lane.batch);
    batch.keys = lane.scratch.all_keys;
    batch.num_keys = static_cast<uint32_t>(keys.size());
    batch.workspace = lane.scratch.all_workspace;
    batch.mode = WriteMode::kSetExisting;
    absl::Status status = lane.stream.CopyAsync(lane.scratch.all_keys, from,
                                                keys.size() * sizeof(int64_t));
    if (!status.ok()) return status;
  }
  return LaunchOnLanes(node_, lanes, "DeduplicateAsync",
                       [this](const StepLane& lane) {
                         return node_.kernels().DeduplicateAsync(
                             batches_[lane.batch.shard], lane.stream.handle());
                       });
}

absl::Status WriteSelection::Count(absl::Span<const StepLane> lanes,
                                   absl::Span<const int64_t> keys) {
  absl::Status status = Deduplicate(lanes, keys);
  if (!status.ok()) return status;
  status = LaunchOnLanes(
      node_, lanes, "FindTargetsAsync", [this](const StepLane& lane) {
        return node_.kernels().FindTargetsAsync(batches_[lane.batch.shard],
                                                lane.stream.handle());
      });
  for (const StepLane& lane : lanes) {
    if (!status.ok()) return status;
    status = lane.stream.CopyAsync(&context_.report(lane.device).counters,
                                   lane.scratch.counters,
                                   sizeof(kernels::WriteCounters));
  }
  return status.ok() ? context_.Wait() : status;
}

absl::Status WriteSelection::Select(absl::Span<const StepLane> lanes,
                                    absl::Span<const int64_t> keys,
                                    uint32_t step_keys) {
  absl::Status status = Deduplicate(lanes, keys);
  if (!status.ok()) return status;
  status =
      LaunchOnLanes(node_, lanes, "SelectAsync", [this](const StepLane& lane) {
        return node_.kernels().SelectAsync(batches_[lane.batch.shard],
                                           lane.scratch.selection,
                                           lane.stream.handle());
      });
  for (const StepLane& lane : lanes) {
    if (!status.ok()) return status;
    status =
        lane.stream.CopyAsync(&context_.report(lane.device).num_selected,
                              lane.scratch.selection.count, sizeof(uint32_t));
  }
  if (status.ok()) status = context_.Wait();
  if (!status.ok()) return status;
  counts_.clear();
  for (const StepLane& lane : lanes) {
    counts_.push_back(context_.report(lane.device).num_selected);
  }
  const uint64_t most = *std::max_element(counts_.begin(), counts_.end());
  num_parts_ = static_cast<uint32_t>(CeilDiv(most, step_keys));
  // Of about equal size: none that is hardly worth its launches.
  step_keys_ = num_parts_ == 0
                   ? step_keys
                   : static_cast<uint32_t>(CeilDiv(most, num_parts_));
  return absl::OkStatus();
}

absl::Status WriteSelection::FetchPositions(absl::Span<const StepLane> lanes) {
  uint32_t* to = context_.positions();
  for (const StepLane& lane : lanes) {
    const uint32_t count = counts_[lane.batch.shard];
    if (count == 0) continue;
    absl::Status status = lane.stream.CopyAsync(
        to, lane.scratch.selection.positions, count * sizeof(uint32_t));
    if (!status.ok()) return status;
    to += count;
  }
  return context_.Wait();
}

std::vector<WriteStep> WriteSelection::Steps() const {
  std::vector<WriteStep> steps(num_parts_);
  for (uint32_t number = 0; number < num_parts_; ++number) {
    steps[number].part = number;
    for (uint32_t shard = 0; shard < counts_.size(); ++shard) {
      steps[number].num_keys += part(shard, number).num_keys;
    }
  }
  return steps;
}

WriteSelection::Part WriteSelection::part(uint32_t shard,
                                          uint32_t number) const {
  const uint64_t first = uint64_t{number} * step_keys_;
  const uint32_t count = counts_[shard];
  if (first >= count) return {count, 0};
  const auto begin = static_cast<uint32_t>(first);
  return {begin, std::min(step_keys_, count - begin)};
}

const uint32_t* WriteSelection::host_positions(uint32_t shard) const {
  const uint32_t* positions = context_.positions();
  for (uint32_t i = 0; i < shard; ++i) positions += counts_[i];
  return positions;
}

}  // namespace gatherd
