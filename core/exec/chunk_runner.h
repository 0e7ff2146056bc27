// Answers one chunk of a lookup job on the calling thread.
#ifndef GATHERD_CORE_EXEC_CHUNK_RUNNER_H_
#define GATHERD_CORE_EXEC_CHUNK_RUNNER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "core/exec/chunk_cursor.h"
#include "core/exec/job.h"

namespace gatherd {

// Belongs to one thread, which runs any number of chunks, one at a time; other
// runners may run other chunks of the same job meanwhile.
class ChunkRunner {
 public:
  // Fills rows, missing bits and, of whole segments, `result` of each. The
  // result of a part goes to *part for the caller to merge.
  absl::Status Run(LookupJob& job, const LookupChunk& chunk,
                   LookupResult* part);

 private:
  absl::Status RunPart(const LookupSegment& segment, const LookupChunk& chunk,
                       LookupResult* part);

  // Kept between chunks, so that running one allocates nothing.
  std::vector<uint32_t> offsets_;
  std::vector<uint8_t> missing_;
};

// The result of a segment of which all parts have been merged into one that
// began as EmptyLookupResult().
LookupResult EmptyLookupResult();
void MergeLookupResult(const LookupResult& part, LookupResult* whole);

}  // namespace gatherd

#endif  // GATHERD_CORE_EXEC_CHUNK_RUNNER_H_
