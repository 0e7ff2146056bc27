#include "client/sharded_client.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/blocking_counter.h"
#include "client/server_set.h"
#include "client/sharded_lookup.h"
#include "client/sharded_writes.h"
#include "client/table_shapes.h"

namespace gatherd::client {
namespace {

bool IsLost(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

absl::Status AtServer(const std::string& name, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("server ", name, ": ", status.message()));
}

// What one server is asked, and answers.
template <typename Request, typename Reply>
struct Ask {
  std::vector<Request> requests;
  std::vector<size_t> parts;  // of the whole call, that these belong to
  absl::StatusOr<Reply> reply = absl::UnknownError("not asked");
};

template <typename Request, typename Reply>
using Asks = std::vector<Ask<Request, Reply>>;  // by server

// `Sharded` is one part of the call, cut.
template <typename Request, typename Reply, typename Sharded>
Asks<Request, Reply> MakeAsks(const std::vector<Sharded>& parts,
                              size_t num_servers) {
  Asks<Request, Reply> asks(num_servers);
  for (size_t part = 0; part < parts.size(); ++part) {
    for (size_t server = 0; server < num_servers; ++server) {
      if (!parts[part].IsAsked(server)) continue;
      asks[server].requests.push_back(parts[part].Request(server));
      asks[server].parts.push_back(part);
    }
  }
  return asks;
}

template <typename Sharded, typename Part>
absl::StatusOr<std::vector<Sharded>> CutAll(absl::Span<const Part> parts,
                                            const ServerSet& servers) {
  std::vector<Sharded> cut;
  cut.reserve(parts.size());
  for (const Part& part : parts) {
    absl::StatusOr<Sharded> sharded =
        Sharded::Create(part, servers.owners, servers.names.size());
    if (!sharded.ok()) return sharded.status();
    cut.push_back(*std::move(sharded));
  }
  return cut;
}

// Asks all servers that there is something to ask at once, and waits.
// `start(client, requests, done)` is one of Client's Async calls.
template <typename Request, typename Reply, typename Start>
void AskAll(const ServerSet& servers, Start start, Asks<Request, Reply>& asks) {
  int num_asked = 0;
  for (const auto& ask : asks) num_asked += ask.requests.empty() ? 0 : 1;
  absl::BlockingCounter pending(num_asked);
  for (size_t i = 0; i < asks.size(); ++i) {
    Ask<Request, Reply>& ask = asks[i];
    if (ask.requests.empty()) continue;
    start(*servers.clients[i], ask.requests,
          [&ask, &pending](absl::StatusOr<Reply> reply) {
            ask.reply = std::move(reply);
            pending.DecrementCount();
          });
  }
  pending.Wait();
}

// The first failure; OK if there is none.
template <typename Request, typename Reply>
absl::Status FirstFailure(const ServerSet& servers,
                          const Asks<Request, Reply>& asks) {
  for (size_t i = 0; i < asks.size(); ++i) {
    if (!asks[i].requests.empty() && !asks[i].reply.ok()) {
      return AtServer(servers.names[i], asks[i].reply.status());
    }
  }
  return absl::OkStatus();
}

void Add(const UpdateResult& part, UpdateResult* sum) {
  sum->num_updated += part.num_updated;
  sum->num_inserted += part.num_inserted;
  sum->num_skipped += part.num_skipped;
  sum->num_evicted += part.num_evicted;
}

void Add(const EraseResult& part, EraseResult* sum) {
  sum->num_erased += part.num_erased;
}

template <typename Sharded, typename Request, typename Result, typename Start>
absl::StatusOr<std::vector<Result>> Write(const ServerSet& servers,
                                          absl::Span<const Request> writes,
                                          Start start) {
  const auto parts = CutAll<Sharded>(writes, servers);
  if (!parts.ok()) return parts.status();
  auto asks =
      MakeAsks<Request, std::vector<Result>>(*parts, servers.names.size());
  AskAll(servers, start, asks);
  if (absl::Status status = FirstFailure(servers, asks); !status.ok()) {
    return status;
  }
  std::vector<Result> results(writes.size());
  for (const auto& ask : asks) {
    for (size_t i = 0; i < ask.parts.size(); ++i) {
      Add((*ask.reply)[i], &results[ask.parts[i]]);
    }
  }
  return results;
}

// What merged rows lie in.
struct Merged {
  std::vector<std::byte> values;
  std::string missing;
};

}  // namespace

class ShardedClient::Impl {
 public:
  Impl(std::unique_ptr<ServerSets> servers, LostKeys lost_keys)
      : servers_(std::move(servers)), lost_keys_(lost_keys) {}

  std::shared_ptr<const ServerSet> Servers() const {
    return servers_->Current();
  }

  absl::StatusOr<ShardedLookupReply> Lookup(
      absl::Span<const TableLookup> lookups, const CallOptions& options) {
    const std::shared_ptr<const ServerSet> servers = Servers();
    const auto parts = CutAll<ShardedLookup>(lookups, *servers);
    if (!parts.ok()) return parts.status();
    auto asks =
        MakeAsks<TableLookup, LookupReply>(*parts, servers->names.size());
    AskAll(
        *servers,
        [&options](Client& client, absl::Span<const TableLookup> requests,
                   Callback<LookupReply> done) {
          client.LookupAsync(requests, std::move(done), options);
        },
        asks);
    ShardedLookupReply reply;
    for (size_t i = 0; i < asks.size(); ++i) {
      if (asks[i].requests.empty() || asks[i].reply.ok()) continue;
      const absl::Status& status = asks[i].reply.status();
      if (lost_keys_ == LostKeys::kFail || !IsLost(status)) {
        return AtServer(servers->names[i], status);
      }
      reply.lost_servers.push_back(servers->names[i]);
    }
    absl::StatusOr<LookupReply> tables = Merge(*parts, asks);
    if (!tables.ok()) return tables.status();
    reply.tables = *std::move(tables);
    return reply;
  }

 private:
  absl::StatusOr<LookupReply> Merge(
      const std::vector<ShardedLookup>& parts,
      const Asks<TableLookup, LookupReply>& asks) {
    const auto memory = std::make_shared<std::vector<Merged>>(parts.size());
    std::vector<std::vector<const TableRows*>> answers(
        parts.size(), std::vector<const TableRows*>(asks.size()));
    for (size_t server = 0; server < asks.size(); ++server) {
      if (!asks[server].reply.ok()) continue;
      for (size_t i = 0; i < asks[server].parts.size(); ++i) {
        const TableRows& rows = (*asks[server].reply)[i];
        answers[asks[server].parts[i]][server] = &rows;
        if (lost_keys_ == LostKeys::kMissing) {
          shapes_.Learn(asks[server].requests[i], rows);
        }
      }
    }
    std::vector<TableRows> tables;
    tables.reserve(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      const absl::StatusOr<TableRows> rows =
          parts[i].Merge(answers[i], shapes_.Find(parts[i].lookup().table),
                         &(*memory)[i].values, &(*memory)[i].missing);
      if (!rows.ok()) return rows.status();
      tables.push_back(*rows);
    }
    return LookupReply(memory, std::move(tables));
  }

  const std::unique_ptr<ServerSets> servers_;
  const LostKeys lost_keys_;
  TableShapes shapes_;
};

ShardedClient::ShardedClient(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
ShardedClient::~ShardedClient() = default;

absl::StatusOr<std::unique_ptr<ShardedClient>> ShardedClient::Create(
    ShardedClientOptions options) {
  if (options.servers.empty() == options.dns_name.empty()) {
    return absl::InvalidArgumentError(
        "either servers or dns_name must be given");
  }
  if (options.resolve_interval <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("resolve_interval must be more than 0");
  }
  const bool is_list = options.dns_name.empty();
  ServerNames names = [list = options.servers] { return list; };
  if (!is_list) {
    names = [name = options.dns_name] { return ResolveAll(name); };
  }
  absl::StatusOr<std::unique_ptr<ServerSets>> servers = ServerSets::Create(
      std::move(options.client), std::move(names),
      is_list ? absl::InfiniteDuration() : options.resolve_interval);
  if (!servers.ok()) return servers.status();
  return std::unique_ptr<ShardedClient>(new ShardedClient(
      std::make_unique<Impl>(*std::move(servers), options.lost_keys)));
}

absl::StatusOr<ShardedLookupReply> ShardedClient::Lookup(
    absl::Span<const TableLookup> lookups, const CallOptions& options) {
  return impl_->Lookup(lookups, options);
}

absl::StatusOr<std::vector<UpdateResult>> ShardedClient::Update(
    absl::Span<const TableUpdate> updates, const CallOptions& options) {
  return Write<ShardedUpdate, TableUpdate, UpdateResult>(
      *impl_->Servers(), updates,
      [&options](Client& client, absl::Span<const TableUpdate> requests,
                 Callback<std::vector<UpdateResult>> done) {
        client.UpdateAsync(requests, std::move(done), options);
      });
}

absl::StatusOr<std::vector<EraseResult>> ShardedClient::Erase(
    absl::Span<const TableErase> erases, const CallOptions& options) {
  return Write<ShardedErase, TableErase, EraseResult>(
      *impl_->Servers(), erases,
      [&options](Client& client, absl::Span<const TableErase> requests,
                 Callback<std::vector<EraseResult>> done) {
        client.EraseAsync(requests, std::move(done), options);
      });
}

}  // namespace gatherd::client
