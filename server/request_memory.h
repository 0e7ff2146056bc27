// Part of the codec: the elements of a request, in memory of the resource that
// replies are made in, where kernels read them.
#ifndef GATHERD_SERVER_REQUEST_MEMORY_H_
#define GATHERD_SERVER_REQUEST_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/base/sizes.h"
#include "server/reply_memory.h"

namespace gatherd {

// One block, cut into pieces. First all sizes are added up, then the pieces are
// taken in the same order.
class RequestMemory {
 public:
  static constexpr size_t kAlignment = 64;  // of each piece; a cache line

  RequestMemory() = default;
  RequestMemory(const RequestMemory&) = delete;
  RequestMemory& operator=(const RequestMemory&) = delete;
  ~RequestMemory() {
    if (bytes_ != nullptr) memory_->deallocate(bytes_, num_bytes_, kAlignment);
  }

  // No overflow: elements take at most four times a message's bytes, which are
  // less than 2 GiB.
  void AddBytes(uint64_t num_bytes) {
    num_bytes_ += AlignUp(num_bytes, kAlignment);
  }

  // Once, when everything was added. Uninitialised.
  void Allocate(ReplyMemory memory) {
    if (num_bytes_ == 0) return;
    memory_ = std::move(memory);
    bytes_ = static_cast<std::byte*>(memory_->allocate(num_bytes_, kAlignment));
    next_ = bytes_;
  }

  std::byte* TakeBytes(uint64_t num_bytes) {
    std::byte* const taken = next_;
    next_ += AlignUp(num_bytes, kAlignment);
    return taken;
  }

 private:
  ReplyMemory memory_;
  uint64_t num_bytes_ = 0;
  std::byte* bytes_ = nullptr;
  std::byte* next_ = nullptr;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_REQUEST_MEMORY_H_
