// A connection as httplib reads and writes it, with limits for the whole of a
// request: httplib's own are for each byte, and a client that drips bytes never
// meets them.
#ifndef GATHERD_SERVER_HTTP_STREAM_H_
#define GATHERD_SERVER_HTTP_STREAM_H_

#include <httplib.h>

#include <array>
#include <cstddef>
#include <string>

#include "absl/time/time.h"

namespace gatherd {

// Borrows the socket. Used by one thread; a shutdown() of the socket by another
// ends what it waits for.
class HttpStream final : public httplib::Stream {
 public:
  // `read_time` from now, `write_time` from the first byte of the answer.
  HttpStream(int fd, absl::Duration read_time, absl::Duration write_time);

  bool is_readable() const override;
  bool is_writable() const override;
  // -1 once the time is up.
  ssize_t read(char* data, size_t size) override;
  // All of it, or -1.
  ssize_t write(const char* data, size_t size) override;

  // Nothing: no page depends on who asks.
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return fd_; }

 private:
  const int fd_;
  const absl::Time read_deadline_;
  const absl::Duration write_time_;
  absl::Time write_deadline_ = absl::InfiniteFuture();
  // httplib reads byte by byte. Bytes [next_, end_) were received and not read.
  std::array<char, 4096> buffer_;
  size_t next_ = 0;
  size_t end_ = 0;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_HTTP_STREAM_H_
