// Where log lines go.
#ifndef GATHERD_SERVER_STDERR_WRITER_H_
#define GATHERD_SERVER_STDERR_WRITER_H_

#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace gatherd {

// Writes whole lines to stderr and never waits for long: whoever reads a pipe
// may stop doing so, and the thread that logs may be the one that answers every
// call. A line that cannot be written is lost. Only a terminal that takes part
// of a line can still hold up who logs. Thread-safe.
class StderrWriter {
 public:
  // `line` ends with a line end.
  void Write(std::string_view line);

  // Lines lost since last asked; 0 while lines are being lost.
  uint64_t TakeNumLost();

 private:
  bool Awaits() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool WriteAll(std::string_view text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  uint64_t num_lost_ ABSL_GUARDED_BY(mutex_) = 0;
  // The last line was lost: the next one is not waited for.
  bool is_stuck_ ABSL_GUARDED_BY(mutex_) = false;
  // What is written next begins in the middle of a line.
  bool is_mid_line_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_STDERR_WRITER_H_
