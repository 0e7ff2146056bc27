// Cuts a lookup job into chunks, each of which a thread can answer alone.
#ifndef GATHERD_CORE_EXEC_CHUNK_CURSOR_H_
#define GATHERD_CORE_EXEC_CHUNK_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/exec/job.h"

namespace gatherd {

// Either the whole segments [first_segment, last_segment), or, if is_part, the
// output rows [first_row, last_row) of the segment first_segment.
struct LookupChunk {
  size_t first_segment = 0;
  size_t last_segment = 0;
  bool is_part = false;
  size_t first_row = 0;
  size_t last_row = 0;
};

// What looking up `segment` costs, in lookups of one key with a row of at most
// 512 bytes, in the table and in the answer: so that chunks of wide rows last
// about as long as others. At least 1.
uint64_t LookupWork(const LookupSegment& segment);

// The chunks of one job, in order, made as they are asked for. Chunks divide a
// segment evenly; of a segment without pooling they begin at multiples of 8
// keys, so that no two set bits in one byte of `missing`.
class ChunkCursor {
 public:
  ChunkCursor() = default;  // at the end
  // Chunks of at most `chunk_work`, but for a single bag or 8 keys over it,
  // and of at most `chunk_segments` segments.
  ChunkCursor(const LookupJob& job, uint64_t chunk_work,
              size_t chunk_segments = std::numeric_limits<size_t>::max())
      : job_(&job), chunk_work_(chunk_work), chunk_segments_(chunk_segments) {}

  bool AtEnd() const {
    return job_ == nullptr || segment_ == job_->segments.size();
  }

  // Call only before the end.
  LookupChunk Next();

 private:
  LookupChunk NextWhole();
  LookupChunk NextPart(const LookupSegment& segment);

  const LookupJob* job_ = nullptr;
  uint64_t chunk_work_ = 0;
  size_t chunk_segments_ = 0;
  size_t segment_ = 0;  // the next chunk begins here,
  size_t row_ = 0;      // at this output row of it
};

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_CHUNK_CURSOR_H_
