#include "server/stderr_writer.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace gatherd {
namespace {

// Enough for a reader that is at work on a busy machine; a reader that is not
// costs this once.
constexpr int kPatienceMs = 200;

// What a pipe that can be written to takes at once.
constexpr size_t kMaxBytes = PIPE_BUF;

}  // namespace

void StderrWriter::Write(std::string_view line) {
  absl::MutexLock lock(&mutex_);
  if (is_mid_line_) is_mid_line_ = !WriteAll("\n");
  is_stuck_ = is_mid_line_ || !WriteAll(line);
  if (is_stuck_) ++num_lost_;
}

uint64_t StderrWriter::TakeNumLost() {
  absl::MutexLock lock(&mutex_);
  return is_stuck_ ? 0 : std::exchange(num_lost_, 0);
}

// Whether stderr takes more, at once or soon.
bool StderrWriter::Awaits() {
  pollfd polled{STDERR_FILENO, POLLOUT, 0};
  int num_ready;
  do {
    num_ready = poll(&polled, 1, is_stuck_ ? 0 : kPatienceMs);
  } while (num_ready < 0 && errno == EINTR);
  return num_ready > 0;
}

bool StderrWriter::WriteAll(std::string_view text) {
  while (!text.empty()) {
    if (!Awaits()) return false;
    const ssize_t written =
        write(STDERR_FILENO, text.data(), std::min(text.size(), kMaxBytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;  // nobody reads, or a disk is full
    text.remove_prefix(static_cast<size_t>(written));
    is_mid_line_ = !text.empty();
  }
  return true;
}

}  // namespace gatherd
