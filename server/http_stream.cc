#include "server/http_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "absl/time/clock.h"

namespace gatherd {
namespace {

// Whether `fd` is ready, or closed, before the deadline.
bool WaitFor(int fd, int16_t events, absl::Time deadline) {
  while (true) {
    // Rounded up, lest the last millisecond be spent spinning.
    const absl::Duration left =
        std::clamp(absl::Ceil(deadline - absl::Now(), absl::Milliseconds(1)),
                   absl::ZeroDuration(), absl::Minutes(1));
    pollfd polled{fd, events, 0};
    const int num_ready =
        poll(&polled, 1, static_cast<int>(absl::ToInt64Milliseconds(left)));
    if (num_ready > 0) return true;
    if (num_ready < 0 && errno != EINTR) return false;
    if (absl::Now() >= deadline) return false;
  }
}

}  // namespace

HttpStream::HttpStream(int fd, absl::Duration read_time,
                       absl::Duration write_time)
    : fd_(fd),
      read_deadline_(absl::Now() + read_time),
      write_time_(write_time) {}

bool HttpStream::is_readable() const {
  return next_ < end_ || WaitFor(fd_, POLLIN, read_deadline_);
}

bool HttpStream::is_writable() const {
  return WaitFor(fd_, POLLOUT, write_deadline_);
}

ssize_t HttpStream::read(char* data, size_t size) {
  if (next_ == end_) {
    // A client that never pauses is ready for ever.
    if (absl::Now() >= read_deadline_ || !is_readable()) return -1;
    const ssize_t received =
        recv(fd_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (received <= 0) return received;
    next_ = 0;
    end_ = static_cast<size_t>(received);
  }
  const size_t num_bytes = std::min(size, end_ - next_);
  std::copy_n(buffer_.data() + next_, num_bytes, data);
  next_ += num_bytes;
  return static_cast<ssize_t>(num_bytes);
}

ssize_t HttpStream::write(const char* data, size_t size) {
  if (write_deadline_ == absl::InfiniteFuture()) {
    write_deadline_ = absl::Now() + write_time_;
  }
  size_t written = 0;
  while (written < size) {
    if (absl::Now() >= write_deadline_ || !is_writable()) return -1;
    const ssize_t sent =
        send(fd_, data + written, size - written, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return -1;
    written += static_cast<size_t>(std::max<ssize_t>(sent, 0));
  }
  return static_cast<ssize_t>(size);
}

void HttpStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

void HttpStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip.clear();
  port = 0;
}

}  // namespace gatherd
