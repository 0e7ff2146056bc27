#include "core/gpu/lookup_context.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/exec/missing_bits.h"

namespace gatherd {
namespace {

// From so many keys on each device answers for its own rows: the reply then
// comes over all PCIe links, and nothing goes over NVLink.
constexpr size_t kSplitKeys = 4096;

}  // namespace

absl::StatusOr<std::unique_ptr<LookupContext>> LookupContext::Create(
    GpuNode& node, DeviceIndex home) {
  std::unique_ptr<LookupContext> context(new LookupContext(node, home));
  absl::Status status = context->Initialize();
  if (!status.ok()) return status;
  return context;
}

absl::Status LookupContext::Initialize() {
  const uint64_t max_keys = node_.options().max_bag_keys + kMaxWholeWork;
  const size_t max_words = max_keys / 32 + kernels::kMaxSegments;
  std::vector<StreamView> streams;
  for (uint32_t i = 0; i < node_.num_devices(); ++i) {
    const DeviceIndex index{i};
    auto lane =
        DeviceLane::Create(node_.api(), index, node_.id(index), max_words);
    if (!lane.ok()) return lane.status();
    streams.push_back(lane->stream());
    lanes_.push_back(*std::move(lane));
  }
  auto reader = GateReader::Create(node_.api(), std::move(streams));
  if (!reader.ok()) return reader.status();
  gate_reader_.emplace(*std::move(reader));
  auto pieces = LookupPieces::Create(node_, home_);
  if (!pieces.ok()) return pieces.status();
  pieces_.emplace(*std::move(pieces));
  return absl::OkStatus();
}

bool LookupContext::TakesMore() const {
  return tasks_.empty() || pieces_->TakesMore();
}

void LookupContext::Add(const ChunkQueue::Task& task) {
  device_ = task.job->self_test_device.value_or(device_);
  pieces_->Add(tasks_.size(), task);
  tasks_.push_back(task);
}

bool LookupContext::ShouldSplit() const {
  if (node_.num_devices() == 1) return false;
  if (!node_.shares_memory()) return true;
  return !pieces_->has_pooling() && pieces_->num_keys() >= kSplitKeys;
}

absl::Status LookupContext::Launch() {
  parts_.assign(tasks_.size(), LookupResult());
  epoch_.emplace(node_.epochs());
  pieces_->Stage();
  for (const LookupPiece& piece : pieces_->pieces()) {
    if (piece.launched < 0) continue;
    DenseWindow* const window = piece.state->window();
    if (window != nullptr &&
        std::find(windows_.begin(), windows_.end(), window) == windows_.end()) {
      windows_.push_back(window);
    }
  }
  is_split_ = ShouldSplit();
  if (pieces_->launched().empty()) return absl::OkStatus();
  ++sequence_;
  const auto launch = [this] {
    absl::Status status;
    if (!is_split_) {
      return LaunchOn(lanes_[static_cast<size_t>(device_)],
                      kernels::kAllShards);
    }
    for (DeviceLane& lane : lanes_) {
      if (status.ok()) {
        status = LaunchOn(lane, static_cast<int32_t>(lane.index()));
      }
    }
    return status;
  };
  if (windows_.empty()) return launch();
  absl::InlinedVector<StreamView, 8> streams;
  for (DeviceLane& lane : lanes_) {
    if (Uses(lane)) streams.push_back(lane.stream());
  }
  return node_.gate().Launch(*gate_reader_, windows_, streams, launch);
}

absl::Status LookupContext::LaunchOn(DeviceLane& lane, int32_t only_shard) {
  std::vector<kernels::LookupSegment>& launched = pieces_->launched();
  for (const LookupPiece& piece : pieces_->pieces()) {
    if (piece.launched < 0) continue;
    kernels::LookupSegment& segment = launched[piece.launched];
    segment.table = piece.state->ref(lane.index());
    segment.table.now = piece.state->Tick();
    segment.missing = lane.missing_words() + piece.words_at;
  }
  kernels::LookupBatch batch;
  batch.segments = launched.data();
  batch.num_segments = static_cast<int>(launched.size());
  batch.only_shard = only_shard;
  batch.num_missing_words = static_cast<uint32_t>(pieces_->num_words());
  return lane.Launch(node_.api(), node_.kernels(), batch, sequence_);
}

bool LookupContext::IsDone() const {
  if (pieces_->launched().empty()) return true;
  for (const DeviceLane& lane : lanes_) {
    if (!Uses(lane)) continue;
    if (lane.reported() != sequence_) return false;
  }
  return true;
}

absl::Status LookupContext::CheckDevices() const {
  for (const DeviceLane& lane : lanes_) {
    if (!Uses(lane)) continue;
    auto idle = lane.stream().IsIdle();
    if (!idle.ok()) return idle.status();
    if (*idle && lane.reported() != sequence_) {
      return absl::InternalError("a lookup kernel ended without its report");
    }
  }
  return absl::OkStatus();
}

void LookupContext::Collect() {
  for (const LookupPiece& piece : pieces_->pieces()) {
    const LookupResult result = ResultOf(piece);
    if (result.num_missing > 0) CollectMissing(piece);
    LookupPieces::CopyRows(piece);
    if (tasks_[piece.task].chunk.is_part) {
      parts_[piece.task] = result;
    } else {
      piece.segment->result = result;
    }
  }
}

LookupResult LookupContext::ResultOf(const LookupPiece& piece) const {
  LookupResult result;
  result.revision = piece.revision;
  if (piece.launched < 0) return result;
  for (const DeviceLane& lane : lanes_) {
    if (!Uses(lane)) continue;
    result.num_missing += lane.counters(piece.launched).num_missing;
  }
  result.tier_hits[0] = piece.num_keys - result.num_missing;
  return result;
}

void LookupContext::CollectMissing(const LookupPiece& piece) {
  for (const DeviceLane& lane : lanes_) {
    if (!Uses(lane)) continue;
    if (lane.counters(piece.launched).num_missing == 0) continue;
    // Words are as good as bytes here: GPUs and hosts are little-endian.
    OrBits(reinterpret_cast<const uint8_t*>(lane.reported_words() +
                                            piece.words_at),
           piece.num_keys, piece.first_key, piece.segment->output.missing);
  }
}

RowReads LookupContext::row_reads(DeviceIndex device) const {
  const DeviceLane& lane = lanes_[static_cast<size_t>(device)];
  RowReads reads;
  if (!Uses(lane)) return reads;
  for (const LookupPiece& piece : pieces_->pieces()) {
    if (piece.launched < 0) continue;
    if (tasks_[piece.task].job->self_test_device.has_value()) continue;
    const kernels::LookupCounters& counters = lane.counters(piece.launched);
    if (piece.state->layout.num_shards == 1) {
      reads.local += piece.num_keys - counters.num_missing;
    } else {
      reads.local += counters.num_local;
      reads.remote += counters.num_remote;
    }
  }
  return reads;
}

void LookupContext::Reset() {
  if (!windows_.empty()) gate_reader_->Leave();
  epoch_.reset();
  tasks_.clear();
  parts_.clear();
  pieces_->Clear();
  windows_.clear();
  device_ = home_;
  is_split_ = false;
}

}  // namespace gatherd
