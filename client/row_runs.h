// Rows as they lie in memory that a reply came in: in pieces, which end
// anywhere, also within a row.
#ifndef GATHERD_CLIENT_ROW_RUNS_H_
#define GATHERD_CLIENT_ROW_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace gatherd::client {

// Whole rows, one after the other.
struct RowRun {
  uint32_t first_row = 0;
  absl::Span<const std::byte> bytes;
};

// Runs over the pieces themselves, but for rows that lie in two or more of
// them: of these, which are few, it has copies. Not to be copied: its runs
// point into it.
class RowRuns {
 public:
  // The pieces together have a whole number of rows, 2^32 - 1 at most.
  RowRuns(absl::Span<const absl::Span<const std::byte>> pieces,
          size_t row_bytes);

  RowRuns(RowRuns&&) = default;
  RowRuns& operator=(RowRuns&&) = default;

  // In order, without a gap.
  absl::Span<const RowRun> runs() const { return runs_; }

 private:
  std::vector<std::byte> copies_;
  std::vector<RowRun> runs_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_ROW_RUNS_H_
