#include "client/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/messages.h"
#include "proto/gatherd/v1/gatherd.grpc.pb.h"
#include "proto/grpc/health/v1/health.grpc.pb.h"

namespace gatherd::client {
namespace {

absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      status.error_message());
}

bool HasAdd(absl::Span<const TableUpdate> updates) {
  return std::any_of(updates.begin(), updates.end(),
                     [](const TableUpdate& update) {
                       return update.mode == UpdateMode::kAdd;
                     });
}

// When the deadline ends the last of several attempts, what went wrong before
// is the reason.
absl::Status WithEarlierFailure(const absl::Status& status,
                                const absl::Status& earlier) {
  if (earlier.ok() || !absl::IsDeadlineExceeded(status)) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; an earlier attempt: ",
                                   earlier.ToString()));
}

}  // namespace

class Client::Impl {
 public:
  Impl(ClientOptions options, const std::shared_ptr<grpc::Channel>& channel)
      : options_(std::move(options)),
        embeddings_(channel),
        tables_(channel),
        health_(channel) {}

  v1::EmbeddingService::Stub& embeddings() { return embeddings_; }
  v1::TableService::Stub& tables() { return tables_; }
  grpc::health::v1::Health::Stub& health() { return health_; }

  int MaxAttempts(const CallOptions& call) const {
    return call.max_attempts.value_or(options_.max_attempts);
  }

  // Calls `attempt` with a fresh context until it is done; see client.h.
  template <typename Attempt>
  absl::Status Call(const CallOptions& call, int max_attempts,
                    Attempt attempt) const {
    const absl::Time deadline =
        absl::Now() + call.timeout.value_or(options_.timeout);
    absl::InsecureBitGen random;
    Backoff backoff(options_.backoff, random);
    absl::Status earlier;
    for (int num_attempts = 1;; ++num_attempts) {
      grpc::ClientContext context;
      context.set_deadline(absl::ToChronoTime(deadline));
      AddCredentials(options_.connection, context);
      const absl::Status status = FromGrpc(attempt(context));
      if (!absl::IsUnavailable(status) || num_attempts >= max_attempts) {
        return WithEarlierFailure(status, earlier);
      }
      const absl::Duration wait = backoff.Next();
      if (absl::Now() + wait >= deadline) return status;
      absl::SleepFor(wait);
      earlier = status;
    }
  }

 private:
  const ClientOptions options_;
  v1::EmbeddingService::Stub embeddings_;
  v1::TableService::Stub tables_;
  grpc::health::v1::Health::Stub health_;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

absl::StatusOr<std::unique_ptr<Client>> Client::Create(ClientOptions options) {
  if (options.timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        absl::StrCat("timeout is ", absl::FormatDuration(options.timeout),
                     "; it must be more than 0"));
  }
  if (options.max_attempts < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "max_attempts is ", options.max_attempts, "; it must be 1 or more"));
  }
  absl::StatusOr<std::shared_ptr<grpc::Channel>> channel =
      MakeChannel(options.connection);
  if (!channel.ok()) return channel.status();
  return std::unique_ptr<Client>(
      new Client(std::make_unique<Impl>(std::move(options), *channel)));
}

absl::StatusOr<LookupReply> Client::Lookup(
    absl::Span<const TableLookup> lookups, const CallOptions& options) {
  const v1::LookupRequest request = ToMessage(lookups);
  auto response = std::make_shared<v1::LookupResponse>();
  const absl::Status status = impl_->Call(
      options, impl_->MaxAttempts(options), [&](grpc::ClientContext& context) {
        return impl_->embeddings().Lookup(&context, request, response.get());
      });
  if (!status.ok()) return status;
  return FromMessage(std::move(response), lookups.size());
}

absl::StatusOr<std::vector<UpdateResult>> Client::Update(
    absl::Span<const TableUpdate> updates, const CallOptions& options) {
  const v1::UpdateRequest request = ToMessage(updates);
  v1::UpdateResponse response;
  const int max_attempts = HasAdd(updates) ? 1 : impl_->MaxAttempts(options);
  const absl::Status status =
      impl_->Call(options, max_attempts, [&](grpc::ClientContext& context) {
        return impl_->embeddings().Update(&context, request, &response);
      });
  if (!status.ok()) return status;
  return FromMessage(response, updates.size());
}

absl::StatusOr<std::vector<EraseResult>> Client::Erase(
    absl::Span<const TableErase> erases, const CallOptions& options) {
  const v1::EraseRequest request = ToMessage(erases);
  v1::EraseResponse response;
  const absl::Status status = impl_->Call(
      options, impl_->MaxAttempts(options), [&](grpc::ClientContext& context) {
        return impl_->embeddings().Erase(&context, request, &response);
      });
  if (!status.ok()) return status;
  return FromMessage(response, erases.size());
}

absl::StatusOr<std::vector<TableInfo>> Client::ListTables(
    const CallOptions& options) {
  v1::ListTablesResponse response;
  const absl::Status status = impl_->Call(
      options, impl_->MaxAttempts(options), [&](grpc::ClientContext& context) {
        return impl_->tables().ListTables(&context, {}, &response);
      });
  if (!status.ok()) return status;
  return FromMessage(response);
}

absl::StatusOr<ServerInfo> Client::GetServerInfo(const CallOptions& options) {
  v1::GetServerInfoResponse response;
  const absl::Status status = impl_->Call(
      options, impl_->MaxAttempts(options), [&](grpc::ClientContext& context) {
        return impl_->tables().GetServerInfo(&context, {}, &response);
      });
  if (!status.ok()) return status;
  return FromMessage(response);
}

absl::StatusOr<Health> Client::CheckHealth(const CallOptions& options) {
  grpc::health::v1::HealthCheckResponse response;
  const absl::Status status =
      impl_->Call(options, 1, [&](grpc::ClientContext& context) {
        return impl_->health().Check(&context, {}, &response);
      });
  if (!status.ok()) return status;
  switch (response.status()) {
    case grpc::health::v1::HealthCheckResponse::SERVING:
      return Health::kServing;
    case grpc::health::v1::HealthCheckResponse::NOT_SERVING:
      return Health::kNotServing;
    default:
      return Health::kUnknown;
  }
}

}  // namespace gatherd::client
