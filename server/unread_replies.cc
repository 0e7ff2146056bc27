#include "server/unread_replies.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace gatherd {
namespace {

absl::Status UnreadError(absl::Duration timeout) {
  return absl::DeadlineExceededError(
      absl::StrCat("the client did not take a reply within ",
                   absl::FormatDuration(timeout), " (server.reply_timeout)"));
}

// A status that is sent would come after the reply, in the client's buffers:
// this takes back what has not left.
void Cancel(grpc_call* call, const absl::Status& error) {
  grpc_call_cancel_with_status(call,
                               static_cast<grpc_status_code>(error.code()),
                               std::string(error.message()).c_str(), nullptr);
}

}  // namespace

UnreadReplies::UnreadReplies(absl::Duration timeout)
    : timeout_(timeout), error_(UnreadError(timeout)) {}

void UnreadReplies::Add(ReplyingCall* call, grpc_call* handle) {
  const Waiting waiting{absl::Now(), handle};
  Shard& shard = ShardOf(call);
  absl::MutexLock lock(&shard.mutex);
  shard.waiting[call] = waiting;
}

bool UnreadReplies::Remove(ReplyingCall* call) {
  Shard& shard = ShardOf(call);
  absl::MutexLock lock(&shard.mutex);
  return shard.waiting.erase(call) > 0;
}

void UnreadReplies::EndOverdue(absl::Time now) {
  const absl::Time since = now - timeout_;
  // Ended without the lock, since that may run the calls' last reactions, which
  // call Remove, on this thread. References keep them until then.
  std::vector<grpc_call*> overdue;
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    for (auto it = shard.waiting.begin(); it != shard.waiting.end();) {
      const auto [call, waiting] = *it;
      if (waiting.since > since) {
        ++it;
        continue;
      }
      call->OnUnread();
      grpc_call_ref(waiting.handle);
      overdue.push_back(waiting.handle);
      shard.waiting.erase(it++);
    }
  }
  for (grpc_call* handle : overdue) {
    Cancel(handle, error_);
    grpc_call_unref(handle);
  }
}

UnreadReplies::Shard& UnreadReplies::ShardOf(const ReplyingCall* call) {
  // The lowest bits are alike in all that the heap gives out.
  return shards_[reinterpret_cast<uintptr_t>(call) / 256 % kNumShards];
}

}  // namespace gatherd
