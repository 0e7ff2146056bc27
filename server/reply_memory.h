// Where the memory of replies comes from.
#ifndef GATHERD_SERVER_REPLY_MEMORY_H_
#define GATHERD_SERVER_REPLY_MEMORY_H_

#include <memory>
#include <memory_resource>

namespace gatherd {

// Thread-safe. Each reply keeps the resource alive: a transport may hold its
// last slice for longer than the server is there.
using ReplyMemory = std::shared_ptr<std::pmr::memory_resource>;

// The heap. It is always there, so this counts no owners.
inline ReplyMemory HeapReplyMemory() {
  return {std::shared_ptr<void>(), std::pmr::new_delete_resource()};
}

}  // namespace gatherd

#endif  // GATHERD_SERVER_REPLY_MEMORY_H_
