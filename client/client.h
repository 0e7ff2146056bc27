// The C++ client of gatherd: typed calls over one connection.
//
//   ClientOptions options;
//   options.connection.address = "localhost:7400";
//   auto client = Client::Create(options);
//   const std::vector<int64_t> keys = {17, 42};
//   auto reply = (*client)->Lookup({{"words", keys}});
//   std::vector<float> row = (*reply)[0].Floats(0);
//
// Thread-safe; make one and share it. Every call has a deadline. Calls block,
// but for those that end in Async:
//
//   client->LookupAsync({{"words", keys}}, [](absl::StatusOr<LookupReply> r) {
//     ...
//   });
//
// These copy what they are given and return at once. The callback is called
// exactly once, never from within LookupAsync, on one of a few threads that
// gRPC has for all callbacks: it must not block, and so not make blocking calls
// either; it may start others. No thread waits for an answer or between
// attempts. The end of the client cancels what is in flight and returns once
// every callback has, so no callback may bring it about.
//
// A call that ends with UNAVAILABLE is repeated, after a jittered and growing
// wait, until it succeeds, `max_attempts` are used up or the deadline leaves no
// room. No other code is retried, and an update that has an ADD in it is never
// repeated: the server may have applied it before the connection broke.
//
// Errors are the server's, code and message unchanged; a reply that makes no
// sense is INTERNAL.
#ifndef GATHERD_CLIENT_CLIENT_H_
#define GATHERD_CLIENT_CLIENT_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/backoff.h"
#include "client/channel.h"
#include "client/pending_call.h"
#include "client/requests.h"
#include "client/table_rows.h"

namespace gatherd::client {

struct ClientOptions {
  ConnectionOptions connection;
  // Of calls that do not bring their own. Covers all attempts and the waits
  // between them.
  absl::Duration timeout = absl::Seconds(10);
  int max_attempts = 5;  // 1: never retry
  BackoffOptions backoff;
};

struct CallOptions {
  std::optional<absl::Duration> timeout;
  std::optional<int> max_attempts;
};

template <typename Reply>
using Callback = absl::AnyInvocable<void(absl::StatusOr<Reply>) &&>;

enum class Health { kUnknown, kServing, kNotServing };

class Client {
 public:
  // Does not wait for the connection: a server that is not there is the first
  // call's UNAVAILABLE. INVALID_ARGUMENT if the options make no sense.
  static absl::StatusOr<std::unique_ptr<Client>> Create(ClientOptions options);

  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // One or several tables in one call; results come in the same order, and the
  // reply's memory is shared by all of them.
  absl::StatusOr<LookupReply> Lookup(absl::Span<const TableLookup> lookups,
                                     const CallOptions& options = {});

  absl::StatusOr<std::vector<UpdateResult>> Update(
      absl::Span<const TableUpdate> updates, const CallOptions& options = {});

  absl::StatusOr<std::vector<EraseResult>> Erase(
      absl::Span<const TableErase> erases, const CallOptions& options = {});

  PendingCall LookupAsync(absl::Span<const TableLookup> lookups,
                          Callback<LookupReply> done,
                          const CallOptions& options = {});

  PendingCall UpdateAsync(absl::Span<const TableUpdate> updates,
                          Callback<std::vector<UpdateResult>> done,
                          const CallOptions& options = {});

  PendingCall EraseAsync(absl::Span<const TableErase> erases,
                         Callback<std::vector<EraseResult>> done,
                         const CallOptions& options = {});

  absl::StatusOr<std::vector<TableInfo>> ListTables(
      const CallOptions& options = {});
  absl::StatusOr<ServerInfo> GetServerInfo(const CallOptions& options = {});

  // What the server says of itself as a whole. Not retried: that it does not
  // answer is an answer.
  absl::StatusOr<Health> CheckHealth(const CallOptions& options = {});

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_CLIENT_H_
