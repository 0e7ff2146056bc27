// Replies that gRPC has been handed and that their clients have yet to take. A
// client that takes none would hold their memory until its call's deadline,
// which may be far away or none. Thread-safe.
#ifndef GATHERD_SERVER_UNREAD_REPLIES_H_
#define GATHERD_SERVER_UNREAD_REPLIES_H_

#include <grpc/grpc.h>

#include <array>
#include <cstddef>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace gatherd {

// A call with a reply on its way.
class ReplyingCall {
 public:
  virtual ~ReplyingCall() = default;

  // The call is about to be ended for its reply. Runs inside EndOverdue, under
  // a lock: to count it, not to act, for which the call's reactions are.
  virtual void OnUnread() = 0;
};

class UnreadReplies {
 public:
  // A reply may wait for `timeout`.
  explicit UnreadReplies(absl::Duration timeout);

  absl::Duration timeout() const { return timeout_; }
  // What calls end with whose replies were not taken in time.
  const absl::Status& error() const { return error_; }

  // From now on a reply of `call` waits: before gRPC is handed it.
  void Add(ReplyingCall* call, grpc_call* handle);
  // It does not wait any more: gRPC is done with it. False if it has waited too
  // long; `call` ends for that. Once this returns nobody uses `call`.
  bool Remove(ReplyingCall* call);

  // Ends the calls whose replies have waited too long.
  void EndOverdue(absl::Time now);

 private:
  // By address, so that calls on different threads seldom meet.
  static constexpr size_t kNumShards = 16;

  struct Waiting {
    absl::Time since;
    grpc_call* handle;
  };
  struct ABSL_CACHELINE_ALIGNED Shard {
    absl::Mutex mutex;
    absl::flat_hash_map<ReplyingCall*, Waiting> waiting ABSL_GUARDED_BY(mutex);
  };

  Shard& ShardOf(const ReplyingCall* call);

  const absl::Duration timeout_;
  const absl::Status error_;
  std::array<Shard, kNumShards> shards_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_UNREAD_REPLIES_H_
