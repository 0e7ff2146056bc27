#include "core/gpu/lookup_pieces.h"

#include <algorithm>
#include <cstring>

#include "core/base/data_type.h"
#include "core/base/sizes.h"
#include "core/gpu/gpu_table.h"

namespace gatherd {
namespace {

constexpr size_t kOutputAlignment = 64;

// Chunks overrun their size by 8 keys or one bag, and their rows are aligned.
// Another may join where there is little of them yet.
constexpr size_t kChunkRowBytes =
    (kMaxWholeWork + 8 * 64) * 512 + kLookupChunkSegments * kOutputAlignment;
constexpr size_t kJoinableRowBytes = size_t{1} << 20;

kernels::ElementType ElementTypeOf(DataType type) {
  return static_cast<kernels::ElementType>(type);
}

size_t OutputRowBytes(const LookupPiece& piece) {
  return RowBytes(piece.segment->batch.output_type, piece.state->spec.dim);
}

std::byte* OutputOf(const LookupPiece& piece) {
  return piece.segment->output.rows + piece.first_row * OutputRowBytes(piece);
}

// Keys and rows of a piece that is part of a segment.
void NarrowTo(const LookupChunk& chunk, LookupPiece* piece) {
  const LookupBatch& batch = piece->segment->batch;
  piece->first_row = chunk.first_row;
  piece->num_rows = chunk.last_row - chunk.first_row;
  if (batch.pooling == Pooling::kNone) {
    piece->first_key = chunk.first_row;
    piece->num_keys = piece->num_rows;
    return;
  }
  const size_t end = chunk.last_row == batch.offsets.size()
                         ? batch.keys.size()
                         : batch.offsets[chunk.last_row];
  piece->first_key = batch.offsets[chunk.first_row];
  piece->num_keys = end - piece->first_key;
}

}  // namespace

absl::StatusOr<LookupPieces> LookupPieces::Create(GpuNode& node,
                                                  DeviceIndex home) {
  const uint64_t max_keys = node.options().max_bag_keys + kMaxWholeWork;
  // A chunk has no more bags than work, or one.
  const uint64_t max_bags = kMaxWholeWork;
  const auto pin = [&](uint64_t num_bytes) {
    return PinnedBuffer::Create(node.api(), node.id(home), num_bytes);
  };
  auto keys = pin(max_keys * sizeof(int64_t));
  if (!keys.ok()) return keys.status();
  auto weights = pin(max_keys * sizeof(float));
  if (!weights.ok()) return weights.status();
  auto offsets = pin(max_bags * sizeof(uint32_t));
  if (!offsets.ok()) return offsets.status();
  auto rows = pin(kChunkRowBytes + kJoinableRowBytes);
  if (!rows.ok()) return rows.status();
  return LookupPieces(node, *std::move(keys), *std::move(weights),
                      *std::move(offsets), *std::move(rows));
}

LookupPieces::LookupPieces(GpuNode& node, PinnedBuffer keys,
                           PinnedBuffer weights, PinnedBuffer offsets,
                           PinnedBuffer rows)
    : node_(&node),
      keys_(std::move(keys)),
      weights_(std::move(weights)),
      offsets_(std::move(offsets)),
      rows_(std::move(rows)) {
  pieces_.reserve(kernels::kMaxSegments);
  launched_.reserve(kernels::kMaxSegments);
}

bool LookupPieces::TakesMore() const {
  return num_keys_ + num_offsets_ + pieces_.size() < kLookupChunkWork / 2 &&
         staged_bytes_ <= kJoinableRowBytes &&
         pieces_.size() + kLookupChunkSegments <= kernels::kMaxSegments;
}

void LookupPieces::Add(size_t task, const ChunkQueue::Task& chunk) {
  for (size_t i = chunk.chunk.first_segment; i < chunk.chunk.last_segment;
       ++i) {
    LookupPiece& piece = pieces_.emplace_back();
    piece.task = task;
    piece.segment = &chunk.job->segments[i];
    piece.state = &static_cast<GpuTable*>(piece.segment->table)->state();
    const LookupBatch& batch = piece.segment->batch;
    piece.num_keys = batch.keys.size();
    piece.num_rows = batch.num_output_rows();
    if (chunk.chunk.is_part) NarrowTo(chunk.chunk, &piece);
    piece.keys_at = num_keys_;
    piece.offsets_at = num_offsets_;
    piece.words_at = num_words_;
    num_keys_ += piece.num_keys;
    num_words_ += CeilDiv(piece.num_keys, 32);
    if (batch.pooling != Pooling::kNone) num_offsets_ += piece.num_rows;
    if (!IsPinned(piece.segment->output.rows)) {
      piece.staged = rows_.data() + staged_bytes_;
      staged_bytes_ +=
          AlignUp(piece.num_rows * OutputRowBytes(piece), kOutputAlignment);
    }
  }
}

void LookupPieces::Stage() {
  for (LookupPiece& piece : pieces_) {
    // Before the launch: what was acknowledged up to here will be seen.
    piece.revision = piece.state->revision.load(std::memory_order_acquire);
    if (piece.num_rows == 0) continue;
    piece.launched = static_cast<int>(launched_.size());
    launched_.push_back(SegmentOf(piece));
  }
}

bool LookupPieces::IsPinned(const void* memory) const {
  const absl::Span<const std::byte> replies = node_->reply_memory();
  const auto* const at = static_cast<const std::byte*>(memory);
  return at >= replies.data() && at < replies.data() + replies.size();
}

template <typename T>
const T* LookupPieces::Reachable(const T* elements, size_t count,
                                 T* staged) const {
  if (IsPinned(elements)) return elements;
  std::copy_n(elements, count, staged);
  return staged;
}

const uint32_t* LookupPieces::OffsetsOf(const LookupPiece& piece) const {
  const uint32_t* const offsets =
      piece.segment->batch.offsets.data() + piece.first_row;
  if (piece.first_key == 0 && IsPinned(offsets)) return offsets;
  auto* const staged =
      reinterpret_cast<uint32_t*>(offsets_.data()) + piece.offsets_at;
  for (size_t i = 0; i < piece.num_rows; ++i) {
    staged[i] = offsets[i] - static_cast<uint32_t>(piece.first_key);
  }
  return staged;
}

kernels::LookupSegment LookupPieces::SegmentOf(const LookupPiece& piece) const {
  const LookupBatch& batch = piece.segment->batch;
  const TableSpec& spec = piece.state->spec;
  kernels::LookupSegment segment;
  segment.keys =
      Reachable(batch.keys.data() + piece.first_key, piece.num_keys,
                reinterpret_cast<int64_t*>(keys_.data()) + piece.keys_at);
  if (!batch.weights.empty()) {
    segment.weights =
        Reachable(batch.weights.data() + piece.first_key, piece.num_keys,
                  reinterpret_cast<float*>(weights_.data()) + piece.keys_at);
  }
  if (batch.pooling != Pooling::kNone) {
    segment.offsets = OffsetsOf(piece);
    segment.num_bags = static_cast<uint32_t>(piece.num_rows);
  }
  segment.num_keys = static_cast<uint32_t>(piece.num_keys);
  segment.dim = spec.dim;
  segment.table_type = ElementTypeOf(spec.data_type);
  segment.output_type = ElementTypeOf(batch.output_type);
  segment.pooling = static_cast<kernels::PoolingMode>(batch.pooling);
  segment.output = piece.staged != nullptr ? piece.staged : OutputOf(piece);
  return segment;
}

void LookupPieces::CopyRows(const LookupPiece& piece) {
  if (piece.staged == nullptr || piece.num_rows == 0) return;
  std::memcpy(OutputOf(piece), piece.staged,
              piece.num_rows * OutputRowBytes(piece));
}

void LookupPieces::Clear() {
  pieces_.clear();
  launched_.clear();
  num_keys_ = 0;
  num_offsets_ = 0;
  num_words_ = 0;
  staged_bytes_ = 0;
}

}  // namespace gatherd
