// An open file or socket that has one owner.
#ifndef GATHERD_SERVER_DESCRIPTOR_H_
#define GATHERD_SERVER_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace gatherd {

class Descriptor {
 public:
  Descriptor() = default;
  // Takes what open(), socket() and their like return: -1 is none.
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (is_open()) close(Release());
  }

 private:
  int fd_ = -1;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_DESCRIPTOR_H_
