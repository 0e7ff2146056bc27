#include "core/gpu/job_size.h"

#include <algorithm>

#include "core/base/data_type.h"
#include "core/base/sizes.h"
#include "core/exec/chunk_cursor.h"
#include "core/gpu/lookup_pieces.h"

namespace gatherd {
namespace {

constexpr uint64_t kSmallReplyBytes = uint64_t{64} << 10;

// So many keys of pooled rows of 512 bytes are read in some 30 µs, and store
// few rows to the host.
constexpr uint64_t kMaxPooledWork = uint64_t{128} << 10;

uint64_t ReplyBytes(const LookupSegment& segment) {
  return segment.batch.num_output_rows() *
         RowBytes(segment.batch.output_type, segment.table->spec().dim);
}

}  // namespace

bool IsSmallReply(const LookupJob& job) {
  uint64_t num_bytes = 0;
  for (const LookupSegment& segment : job.segments) {
    num_bytes += ReplyBytes(segment);
    if (num_bytes > kSmallReplyBytes) return false;
  }
  return true;
}

bool FitsOneBatch(const LookupJob& job, uint64_t max_bag_keys) {
  constexpr uint64_t kWorkBytes = 512;  // as LookupWork counts
  if (job.segments.size() > kLookupChunkSegments) return false;
  uint64_t work = 0;
  uint64_t pooled_work = 0;
  for (const LookupSegment& segment : job.segments) {
    if (segment.batch.pooling == Pooling::kNone) {
      work += LookupWork(segment);
    } else {
      pooled_work += LookupWork(segment);
      work += std::max(segment.batch.num_output_rows(),
                       CeilDiv(ReplyBytes(segment), kWorkBytes));
    }
    if (work > kMaxWholeWork) return false;
  }
  return pooled_work <= std::min(kMaxPooledWork, max_bag_keys);
}

}  // namespace gatherd
