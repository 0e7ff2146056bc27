#include "core/gpu/lookup_context.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/base/data_type.h"
#include "core/base/sizes.h"
#include "core/exec/chunk_runner.h"
#include "core/gpu/gpu_table.h"

namespace gatherd {
namespace {

// From so many keys on each device answers for its own rows: the reply then
// comes over all PCIe links, and nothing goes over NVLink.
constexpr size_t kSplitKeys = 4096;

constexpr size_t kOutputAlignment = 64;

// Chunks overrun their size by 8 keys or one bag, and their rows are aligned.
// Another may join where there is little of them yet.
constexpr size_t kChunkRowBytes =
    (kLookupChunkWork + 8 * 64) * 512 + kLookupChunkSegments * kOutputAlignment;
constexpr size_t kJoinableRowBytes = size_t{1} << 20;

kernels::ElementType ElementTypeOf(DataType type) {
  return static_cast<kernels::ElementType>(type);
}

// bits[first + i] |= bit i of `words`. Other threads may set other bits of the
// same bytes; relaxed, as the job's end is what publishes them.
void OrBits(const uint32_t* words, size_t num_bits, size_t first,
            uint8_t* bits) {
  for (size_t i = 0; i < num_bits; i += 8) {
    const unsigned part = words[i / 32] >> (i % 32) & 255;
    if (part == 0) continue;
    const unsigned shifted = part << (first % 8);
    uint8_t* const at = bits + (first + i) / 8;
    const auto low = static_cast<uint8_t>(shifted);
    const auto high = static_cast<uint8_t>(shifted >> 8);
    if (low != 0) __atomic_fetch_or(at, low, __ATOMIC_RELAXED);
    if (high != 0) __atomic_fetch_or(at + 1, high, __ATOMIC_RELAXED);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<LookupContext>> LookupContext::Create(
    GpuNode& node, DeviceIndex home) {
  std::unique_ptr<LookupContext> context(new LookupContext(node, home));
  absl::Status status = context->Initialize();
  if (!status.ok()) return status;
  return context;
}

absl::Status LookupContext::Initialize() {
  const uint64_t max_keys = node_.options().max_bag_keys + kLookupChunkWork;
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
  const auto pin = [this](uint64_t num_bytes,
                          std::optional<PinnedBuffer>* buffer) {
    auto pinned = PinnedBuffer::Create(node_.api(), node_.id(home_), num_bytes);
    if (pinned.ok()) buffer->emplace(*std::move(pinned));
    return pinned.status();
  };
  absl::Status status = pin(max_keys * sizeof(int64_t), &keys_);
  if (status.ok()) status = pin(max_keys * sizeof(float), &weights_);
  // A chunk has no more bags than work, or one.
  const uint64_t max_bags = 2 * kLookupChunkWork;
  if (status.ok()) status = pin(max_bags * sizeof(uint32_t), &offsets_);
  if (status.ok()) status = pin(kChunkRowBytes + kJoinableRowBytes, &rows_);
  launched_.reserve(kernels::kMaxSegments);
  return status;
}

bool LookupContext::TakesMore() const {
  return tasks_.empty() ||
         (num_keys_ + num_offsets_ + pieces_.size() < kLookupChunkWork / 2 &&
          staged_bytes_ <= kJoinableRowBytes &&
          pieces_.size() + kLookupChunkSegments <= kernels::kMaxSegments);
}

void LookupContext::Add(const ChunkQueue::Task& task) {
  tasks_.push_back(task);
  device_ = task.job->self_test_device.value_or(device_);
  AddPieces(tasks_.size() - 1);
}

void LookupContext::AddPieces(size_t task) {
  const LookupChunk& chunk = tasks_[task].chunk;
  for (size_t i = chunk.first_segment; i < chunk.last_segment; ++i) {
    Piece piece;
    piece.task = task;
    piece.segment = &tasks_[task].job->segments[i];
    piece.state = &static_cast<GpuTable*>(piece.segment->table)->state();
    const LookupBatch& batch = piece.segment->batch;
    piece.num_keys = batch.keys.size();
    piece.num_rows = batch.num_output_rows();
    if (chunk.is_part) {
      piece.first_row = chunk.first_row;
      piece.num_rows = chunk.last_row - chunk.first_row;
      if (batch.pooling == Pooling::kNone) {
        piece.first_key = chunk.first_row;
        piece.num_keys = piece.num_rows;
      } else {
        const size_t end = chunk.last_row == batch.offsets.size()
                               ? batch.keys.size()
                               : batch.offsets[chunk.last_row];
        piece.first_key = batch.offsets[chunk.first_row];
        piece.num_keys = end - piece.first_key;
      }
    }
    num_keys_ += piece.num_keys;
    if (batch.pooling != Pooling::kNone) {
      has_pooling_ = true;
      num_offsets_ += piece.num_rows;
    }
    if (!IsPinned(piece.segment->output.rows)) {
      staged_bytes_ += AlignUp(
          piece.num_rows * RowBytes(batch.output_type, piece.state->spec.dim),
          kOutputAlignment);
    }
    pieces_.push_back(piece);
  }
}

bool LookupContext::ShouldSplit() const {
  if (node_.num_devices() == 1) return false;
  if (!node_.shares_memory()) return true;
  return !has_pooling_ && num_keys_ >= kSplitKeys;
}

absl::Status LookupContext::Launch() {
  parts_.assign(tasks_.size(), LookupResult());
  epoch_.emplace(node_.epochs());
  num_keys_ = 0;
  num_offsets_ = 0;
  staged_bytes_ = 0;
  for (Piece& piece : pieces_) {
    // Before the launch: what was acknowledged up to here will be seen.
    piece.revision = piece.state->revision.load(std::memory_order_acquire);
    if (piece.num_rows == 0) continue;
    piece.launched = static_cast<int>(launched_.size());
    StagePiece(piece, &launched_.emplace_back());
    DenseWindow* const window = piece.state->window();
    if (window != nullptr &&
        std::find(windows_.begin(), windows_.end(), window) == windows_.end()) {
      windows_.push_back(window);
    }
  }
  is_split_ = ShouldSplit();
  if (launched_.empty()) return absl::OkStatus();
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

bool LookupContext::IsPinned(const void* memory) const {
  const absl::Span<const std::byte> replies = node_.reply_memory();
  const auto* const at = static_cast<const std::byte*>(memory);
  return at >= replies.data() && at < replies.data() + replies.size();
}

template <typename T>
const T* LookupContext::Reachable(const T* elements, size_t count, T* staged) {
  if (IsPinned(elements)) return elements;
  std::copy_n(elements, count, staged);
  return staged;
}

const uint32_t* LookupContext::OffsetsOf(const Piece& piece) {
  const uint32_t* const offsets =
      piece.segment->batch.offsets.data() + piece.first_row;
  if (piece.first_key == 0 && IsPinned(offsets)) return offsets;
  auto* const staged =
      reinterpret_cast<uint32_t*>(offsets_->data()) + num_offsets_;
  for (size_t i = 0; i < piece.num_rows; ++i) {
    staged[i] = offsets[i] - static_cast<uint32_t>(piece.first_key);
  }
  return staged;
}

void LookupContext::StagePiece(Piece& piece, kernels::LookupSegment* launched) {
  const LookupSegment& segment = *piece.segment;
  const LookupBatch& batch = segment.batch;
  const TableSpec& spec = piece.state->spec;
  launched->keys =
      Reachable(batch.keys.data() + piece.first_key, piece.num_keys,
                reinterpret_cast<int64_t*>(keys_->data()) + num_keys_);
  if (!batch.weights.empty()) {
    launched->weights =
        Reachable(batch.weights.data() + piece.first_key, piece.num_keys,
                  reinterpret_cast<float*>(weights_->data()) + num_keys_);
  }
  if (batch.pooling != Pooling::kNone) {
    launched->offsets = OffsetsOf(piece);
    launched->num_bags = static_cast<uint32_t>(piece.num_rows);
    num_offsets_ += piece.num_rows;
  }
  launched->num_keys = static_cast<uint32_t>(piece.num_keys);
  launched->dim = spec.dim;
  launched->table_type = ElementTypeOf(spec.data_type);
  launched->output_type = ElementTypeOf(batch.output_type);
  launched->pooling = static_cast<kernels::PoolingMode>(batch.pooling);

  const size_t row_bytes = RowBytes(batch.output_type, spec.dim);
  std::byte* const out = segment.output.rows + piece.first_row * row_bytes;
  if (IsPinned(out)) {
    launched->output = out;
  } else {
    piece.staged = rows_->data() + staged_bytes_;
    launched->output = piece.staged;
    staged_bytes_ += AlignUp(piece.num_rows * row_bytes, kOutputAlignment);
  }
  piece.first_word = num_words_;
  num_keys_ += piece.num_keys;
  num_words_ += CeilDiv(piece.num_keys, 32);
}

absl::Status LookupContext::LaunchOn(DeviceLane& lane, int32_t only_shard) {
  for (const Piece& piece : pieces_) {
    if (piece.launched < 0) continue;
    kernels::LookupSegment& segment = launched_[piece.launched];
    segment.table = piece.state->ref(lane.index());
    segment.table.now = piece.state->Tick();
    segment.missing = lane.missing_words() + piece.first_word;
  }
  kernels::LookupBatch batch;
  batch.segments = launched_.data();
  batch.num_segments = static_cast<int>(launched_.size());
  batch.only_shard = only_shard;
  batch.num_missing_words = static_cast<uint32_t>(num_words_);
  return lane.Launch(node_.api(), node_.kernels(), batch, sequence_);
}

bool LookupContext::IsDone() const {
  if (launched_.empty()) return true;
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
  for (const Piece& piece : pieces_) {
    const LookupResult result = ResultOf(piece);
    if (result.num_missing > 0) CollectMissing(piece);
    if (piece.staged != nullptr) {
      const size_t row_bytes =
          RowBytes(piece.segment->batch.output_type, piece.state->spec.dim);
      std::memcpy(piece.segment->output.rows + piece.first_row * row_bytes,
                  piece.staged, piece.num_rows * row_bytes);
    }
    if (tasks_[piece.task].chunk.is_part) {
      parts_[piece.task] = result;
    } else {
      piece.segment->result = result;
    }
  }
}

LookupResult LookupContext::ResultOf(const Piece& piece) const {
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

void LookupContext::CollectMissing(const Piece& piece) {
  for (const DeviceLane& lane : lanes_) {
    if (!Uses(lane)) continue;
    if (lane.counters(piece.launched).num_missing == 0) continue;
    OrBits(lane.reported_words() + piece.first_word, piece.num_keys,
           piece.first_key, piece.segment->output.missing);
  }
}

RowReads LookupContext::row_reads(DeviceIndex device) const {
  const DeviceLane& lane = lanes_[static_cast<size_t>(device)];
  RowReads reads;
  if (!Uses(lane)) return reads;
  for (const Piece& piece : pieces_) {
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
  pieces_.clear();
  launched_.clear();
  windows_.clear();
  device_ = home_;
  has_pooling_ = false;
  is_split_ = false;
  num_keys_ = 0;
  num_offsets_ = 0;
  num_words_ = 0;
  staged_bytes_ = 0;
}

}  // namespace gatherd
