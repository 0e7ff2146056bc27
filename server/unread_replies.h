// The replies of unary calls that have been handed to gRPC and may have to
// wait for ever: their clients take nothing, and no deadline ends the calls.
// Thread-safe.
#ifndef GATHERD_SERVER_UNREAD_REPLIES_H_
#define GATHERD_SERVER_UNREAD_REPLIES_H_

#include <grpc/grpc.h>

#include <array>
#include <cstddef>

#include "absl/base/optimization.h"
#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace gatherd {

// What a call ends with whose reply was not taken within `timeout`.
absl::Status UnreadReplyError(absl::Duration timeout);

// Ends `call` with `error`. A status that is sent would come after the reply,
// in the client's buffers: this takes back what has not left.
void TakeReplyBack(grpc_call* call, const absl::Status& error);

class UnreadReply {
 public:
  virtual ~UnreadReply() = default;

  // Since when it waits. Does not change while it is watched.
  virtual absl::Time since() const = 0;
  // The call that it ends.
  virtual grpc_call* call() const = 0;
  // Told before its call ends with `error`. Does not wait.
  virtual void OnUnread(const absl::Status& error) = 0;
};

class UnreadReplies {
 public:
  void Add(UnreadReply* reply);
  // Once it returns, nobody uses the reply any more.
  void Remove(UnreadReply* reply);

  // Ends the calls of those that have waited for `timeout` at `now`.
  void EndOverdue(absl::Time now, absl::Duration timeout);

 private:
  // By address, so that calls on different threads seldom meet.
  static constexpr size_t kNumShards = 16;

  struct ABSL_CACHELINE_ALIGNED Shard {
    absl::Mutex mutex;
    absl::flat_hash_set<UnreadReply*> replies ABSL_GUARDED_BY(mutex);
  };

  Shard& ShardOf(const UnreadReply* reply);

  std::array<Shard, kNumShards> shards_;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_UNREAD_REPLIES_H_
