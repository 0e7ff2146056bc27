// Part of the codec: memory that slices of a reply point into, so that rows
// reach the transport without a copy. It lives until its maker and the last
// slice have let go, and holds the request's admission ticket as long.
#ifndef GATHERD_SERVER_REPLY_BLOCK_H_
#define GATHERD_SERVER_REPLY_BLOCK_H_

#include <grpcpp/support/slice.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "server/admission.h"
#include "server/reply_memory.h"

namespace gatherd {

class ReplyBlock {
 public:
  // Uninitialised: rows overwrite it, and zeroing costs as much as a copy.
  ReplyBlock(size_t num_bytes, ReplyMemory memory, AdmissionTicket ticket)
      : memory_(std::move(memory)),
        bytes_(
            static_cast<std::byte*>(memory_->allocate(num_bytes, kAlignment))),
        num_bytes_(num_bytes),
        ticket_(std::move(ticket)) {}
  ReplyBlock(const ReplyBlock&) = delete;
  ReplyBlock& operator=(const ReplyBlock&) = delete;

  static constexpr size_t kAlignment = 64;  // a cache line, widest vectors

  std::byte* bytes() { return bytes_; }

  // Ownership is counted here rather than in a shared_ptr, which a slice could
  // only hold behind one more allocation.
  grpc::Slice MakeSlice(std::byte* begin, size_t size) {
    // Relaxed: whoever counts up holds a reference already.
    num_owners_.fetch_add(1, std::memory_order_relaxed);
    return grpc::Slice(begin, size, &Unref, this);
  }

  static void Unref(void* block) {
    auto* self = static_cast<ReplyBlock*>(block);
    // Release what this owner did, acquire what the others did, before it goes.
    if (self->num_owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      delete self;
    }
  }

  struct Deleter {
    void operator()(ReplyBlock* block) const { Unref(block); }
  };

 private:
  ~ReplyBlock() { memory_->deallocate(bytes_, num_bytes_, kAlignment); }

  const ReplyMemory memory_;
  std::byte* const bytes_;
  const size_t num_bytes_;
  const AdmissionTicket ticket_;
  std::atomic<size_t> num_owners_{1};
};

using ReplyBlockPtr = std::unique_ptr<ReplyBlock, ReplyBlock::Deleter>;

}  // namespace gatherd

#endif  // GATHERD_SERVER_REPLY_BLOCK_H_
