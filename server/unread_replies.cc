#include "server/unread_replies.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace gatherd {

absl::Status UnreadReplyError(absl::Duration timeout) {
  return absl::DeadlineExceededError(
      absl::StrCat("the client did not take a reply within ",
                   absl::FormatDuration(timeout), " (server.reply_timeout)"));
}

void TakeReplyBack(grpc_call* call, const absl::Status& error) {
  grpc_call_cancel_with_status(call,
                               static_cast<grpc_status_code>(error.code()),
                               std::string(error.message()).c_str(), nullptr);
}

void UnreadReplies::Add(UnreadReply* reply) {
  Shard& shard = ShardOf(reply);
  absl::MutexLock lock(&shard.mutex);
  shard.replies.insert(reply);
}

void UnreadReplies::Remove(UnreadReply* reply) {
  Shard& shard = ShardOf(reply);
  absl::MutexLock lock(&shard.mutex);
  shard.replies.erase(reply);
}

void UnreadReplies::EndOverdue(absl::Time now, absl::Duration timeout) {
  const absl::Time since = now - timeout;
  const absl::Status error = UnreadReplyError(timeout);
  // Ended without the lock, since that may run the calls' last reactions, which
  // call Remove, on this thread. References keep them until then.
  std::vector<grpc_call*> overdue;
  for (Shard& shard : shards_) {
    absl::MutexLock lock(&shard.mutex);
    for (auto it = shard.replies.begin(); it != shard.replies.end();) {
      UnreadReply& reply = **it;
      if (reply.since() > since) {
        ++it;
        continue;
      }
      reply.OnUnread(error);
      overdue.push_back(reply.call());
      grpc_call_ref(overdue.back());
      shard.replies.erase(it++);
    }
  }
  for (grpc_call* call : overdue) {
    TakeReplyBack(call, error);
    grpc_call_unref(call);
  }
}

UnreadReplies::Shard& UnreadReplies::ShardOf(const UnreadReply* reply) {
  // The lowest bits are alike in all that the heap gives out.
  return shards_[reinterpret_cast<uintptr_t>(reply) / 256 % kNumShards];
}

}  // namespace gatherd
