#include "core/exec/chunk_cursor.h"

#include <algorithm>

#include "core/base/sizes.h"

namespace gatherd {
namespace {

constexpr uint64_t kRowBytesPerWork = 512;

// Of one key of `segment`. At most 64, as rows have at most 32 KiB.
uint64_t KeyWork(const LookupSegment& segment) {
  const TableSpec& spec = segment.table->spec();
  const size_t row_bytes =
      std::max(spec.row_bytes(), RowBytes(segment.batch.output_type, spec.dim));
  return CeilDiv(row_bytes, kRowBytesPerWork);
}

// The end of a part that begins at key `first`, when `num_parts` are left.
size_t EndOfKeys(size_t num_keys, size_t first, uint64_t num_parts) {
  const uint64_t part_keys = CeilDiv(num_keys - first, num_parts);
  return std::min<uint64_t>(num_keys, first + AlignUp(part_keys, 8));
}

// The same in bags: cut where the keys are divided evenly, but never more than
// `max_bags`, many of which may be empty.
size_t EndOfBags(const LookupBatch& batch, size_t first, uint64_t num_parts,
                 uint64_t max_bags) {
  const uint64_t num_keys = batch.keys.size() - batch.offsets[first];
  const uint64_t part_keys =
      std::max<uint64_t>(1, CeilDiv(num_keys, num_parts));
  const size_t limit = std::min<uint64_t>(
      batch.offsets.size(), first + std::max<uint64_t>(1, max_bags));
  const auto end = std::lower_bound(batch.offsets.begin() + first + 1,
                                    batch.offsets.begin() + limit,
                                    batch.offsets[first] + part_keys);
  return end - batch.offsets.begin();
}

}  // namespace

uint64_t LookupWork(const LookupSegment& segment) {
  const uint64_t num_keys = std::max<uint64_t>(segment.batch.keys.size(),
                                               segment.batch.num_output_rows());
  return std::max<uint64_t>(1, num_keys * KeyWork(segment));
}

LookupChunk ChunkCursor::Next() {
  const LookupSegment& segment = job_->segments[segment_];
  if (row_ > 0 || LookupWork(segment) > chunk_work_) return NextPart(segment);
  return NextWhole();
}

LookupChunk ChunkCursor::NextWhole() {
  LookupChunk chunk;
  chunk.first_segment = segment_;
  uint64_t work = 0;
  do {
    work += LookupWork(job_->segments[segment_]);
    ++segment_;
  } while (segment_ < job_->segments.size() &&
           segment_ - chunk.first_segment < chunk_segments_ &&
           work + LookupWork(job_->segments[segment_]) <= chunk_work_);
  chunk.last_segment = segment_;
  return chunk;
}

LookupChunk ChunkCursor::NextPart(const LookupSegment& segment) {
  const LookupBatch& batch = segment.batch;
  const bool pooled = batch.pooling != Pooling::kNone;
  const size_t num_rows = batch.num_output_rows();
  const uint64_t keys_left =
      batch.keys.size() - (pooled ? batch.offsets[row_] : row_);
  const uint64_t key_work = KeyWork(segment);
  const uint64_t num_parts = std::max<uint64_t>(
      1, CeilDiv(std::max<uint64_t>(keys_left, num_rows - row_) * key_work,
                 chunk_work_));

  LookupChunk chunk;
  chunk.first_segment = segment_;
  chunk.last_segment = segment_ + 1;
  chunk.is_part = true;
  chunk.first_row = row_;
  chunk.last_row =
      pooled ? EndOfBags(batch, row_, num_parts, chunk_work_ / key_work)
             : EndOfKeys(num_rows, row_, num_parts);
  row_ = chunk.last_row;
  if (row_ == num_rows) {
    ++segment_;
    row_ = 0;
  }
  return chunk;
}

}  // namespace gatherd
