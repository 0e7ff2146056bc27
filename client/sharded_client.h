// A client of tables whose rows are spread over several servers by key. It has
// Client's calls: keys go to their owners, all of which are asked at once, and
// rows come back in the order asked for.
//
//   ShardedClientOptions options;
//   options.servers = {"words-0.words:7400", "words-1.words:7400"};
//   auto client = ShardedClient::Create(options);
//   auto reply = (*client)->Lookup({{"words", keys}});
//   std::vector<float> row = reply->tables[0].Floats(0);
//
// Every server has a table of the same name, dim and data_type, and of its own
// number of rows; rendezvous.h says who owns a key.
//
// What differs from one server:
// - A row is never torn, but each server answers for itself: a write may have
//   reached some of its owners and a lookup see it at these alone, and a write
//   that is refused by one may have been done by others. After a failed Update
//   with an ADD nobody knows; others may be repeated.
// - Pooled rows are float32: sums of what the servers add up, in the order of
//   the servers.
// - Revisions, which servers count for themselves, are 0.
#ifndef GATHERD_CLIENT_SHARDED_CLIENT_H_
#define GATHERD_CLIENT_SHARDED_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/client.h"
#include "client/requests.h"
#include "client/table_rows.h"

namespace gatherd::client {

// What becomes of keys whose owner is UNAVAILABLE, or does not answer within
// the deadline.
enum class LostKeys {
  kFail,     // the call fails
  kMissing,  // lookups: missing, with rows of zeros, and left out of bags
};

struct ShardedClientOptions {
  // HOST:PORT of each server. Rows are spread by these very texts: give names
  // that last, such as those of a StatefulSet's pods, and the same to all
  // clients. Their order does not matter.
  std::vector<std::string> servers;
  // Instead of `servers`: a HOST:PORT that has an address for each, as a
  // headless Service's name has, asked for every `resolve_interval`. Rows are
  // spread by address, so that a server that comes back with another owns
  // other keys: for servers that can each answer for any key.
  std::string dns_name;
  absl::Duration resolve_interval = absl::Seconds(10);

  LostKeys lost_keys = LostKeys::kFail;
  // Of every connection; `connection.address` is not used.
  ClientOptions client;
};

struct ShardedLookupReply {
  LookupReply tables;
  // Servers whose keys count as missing, see LostKeys; empty: all have
  // answered.
  std::vector<std::string> lost_servers;
};

// Thread-safe; make one and share it. Calls block, so not for callbacks.
class ShardedClient {
 public:
  // INVALID_ARGUMENT if the options make no sense, UNAVAILABLE if `dns_name`
  // cannot be resolved. Servers need not be there.
  static absl::StatusOr<std::unique_ptr<ShardedClient>> Create(
      ShardedClientOptions options);

  ~ShardedClient();
  ShardedClient(const ShardedClient&) = delete;
  ShardedClient& operator=(const ShardedClient&) = delete;

  absl::StatusOr<ShardedLookupReply> Lookup(
      absl::Span<const TableLookup> lookups, const CallOptions& options = {});

  absl::StatusOr<std::vector<UpdateResult>> Update(
      absl::Span<const TableUpdate> updates, const CallOptions& options = {});

  absl::StatusOr<std::vector<EraseResult>> Erase(
      absl::Span<const TableErase> erases, const CallOptions& options = {});

 private:
  class Impl;
  explicit ShardedClient(std::unique_ptr<Impl> impl);

  const std::unique_ptr<Impl> impl_;
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_SHARDED_CLIENT_H_
