#include "core/exec/chunk_runner.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/status/statusor.h"
#include "core/exec/missing_bits.h"

namespace gatherd {
namespace {

absl::Status Lookup(Table& table, const LookupBatch& batch,
                    const LookupOutput& output, LookupResult* result) {
  absl::StatusOr<LookupResult> answer = table.Lookup(batch, output);
  if (!answer.ok()) return std::move(answer).status();
  *result = *answer;
  return absl::OkStatus();
}

}  // namespace

absl::Status ChunkRunner::Run(LookupJob& job, const LookupChunk& chunk,
                              LookupResult* part) {
  if (chunk.is_part) {
    return RunPart(job.segments[chunk.first_segment], chunk, part);
  }
  for (size_t i = chunk.first_segment; i < chunk.last_segment; ++i) {
    LookupSegment& segment = job.segments[i];
    absl::Status status =
        Lookup(*segment.table, segment.batch, segment.output, &segment.result);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ChunkRunner::RunPart(const LookupSegment& segment,
                                  const LookupChunk& chunk,
                                  LookupResult* part) {
  const LookupBatch& whole = segment.batch;
  const bool pooled = whole.pooling != Pooling::kNone;
  const size_t row_bytes =
      RowBytes(whole.output_type, segment.table->spec().dim);
  const bool is_last = chunk.last_row == whole.num_output_rows();

  size_t first_key = chunk.first_row;
  size_t last_key = chunk.last_row;
  LookupBatch batch = whole;
  if (pooled) {
    first_key = whole.offsets[chunk.first_row];
    last_key = is_last ? whole.keys.size() : whole.offsets[chunk.last_row];
    offsets_.resize(chunk.last_row - chunk.first_row);
    for (size_t i = 0; i < offsets_.size(); ++i) {
      offsets_[i] =
          whole.offsets[chunk.first_row + i] - static_cast<uint32_t>(first_key);
    }
    batch.offsets = offsets_;
  }
  batch.keys = whole.keys.subspan(first_key, last_key - first_key);
  if (!whole.weights.empty()) {
    batch.weights = whole.weights.subspan(first_key, last_key - first_key);
  }

  LookupOutput output;
  output.rows = segment.output.rows + chunk.first_row * row_bytes;
  // Bags begin anywhere. A part that shares a byte of missing bits with a
  // neighbour collects its own bits apart.
  const bool owns_bytes = first_key % 8 == 0 &&
                          (last_key % 8 == 0 || last_key == whole.keys.size());
  if (owns_bytes) {
    output.missing = segment.output.missing + first_key / 8;
    return Lookup(*segment.table, batch, output, part);
  }
  missing_.assign((batch.keys.size() + 7) / 8, 0);
  output.missing = missing_.data();
  absl::Status status = Lookup(*segment.table, batch, output, part);
  if (status.ok() && part->num_missing > 0) {
    OrBits(missing_.data(), batch.keys.size(), first_key,
           segment.output.missing);
  }
  return status;
}

LookupResult EmptyLookupResult() {
  LookupResult result;
  result.revision = std::numeric_limits<uint64_t>::max();
  return result;
}

void MergeLookupResult(const LookupResult& part, LookupResult* whole) {
  whole->num_missing += part.num_missing;
  // The part that read first has seen the fewest writes.
  whole->revision = std::min(whole->revision, part.revision);
  for (size_t i = 0; i < whole->tier_hits.size(); ++i) {
    whole->tier_hits[i] += part.tier_hits[i];
  }
}

}  // namespace gatherd
