#include "client/client.h"

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/attempts.h"
#include "client/lookup_reply_reader.h"
#include "client/messages.h"
#include "client/transport.h"
#include "proto/gatherd/v1/gatherd.pb.h"
#include "proto/grpc/health/v1/health.pb.h"

namespace gatherd::client {
namespace {

constexpr char kLookup[] = "/gatherd.v1.EmbeddingService/Lookup";
constexpr char kUpdate[] = "/gatherd.v1.EmbeddingService/Update";
constexpr char kErase[] = "/gatherd.v1.EmbeddingService/Erase";
constexpr char kListTables[] = "/gatherd.v1.TableService/ListTables";
constexpr char kGetServerInfo[] = "/gatherd.v1.TableService/GetServerInfo";
constexpr char kCheckHealth[] = "/grpc.health.v1.Health/Check";

grpc::ByteBuffer Encode(const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

template <typename Message>
absl::StatusOr<Message> Decode(grpc::ByteBuffer buffer) {
  grpc::ProtoBufferReader reader(&buffer);
  Message message;
  if (!message.ParseFromZeroCopyStream(&reader)) {
    return absl::InternalError(
        absl::StrCat("reply: is no ", message.GetTypeName()));
  }
  return message;
}

// What the reply to one or several writes says.
template <typename Result, typename Message>
absl::StatusOr<std::vector<Result>> ReadResults(grpc::ByteBuffer reply,
                                                size_t num_writes) {
  const absl::StatusOr<Message> message = Decode<Message>(std::move(reply));
  if (!message.ok()) return message.status();
  return FromMessage(*message, num_writes);
}

absl::StatusOr<std::vector<UpdateResult>> ReadUpdateReply(
    grpc::ByteBuffer reply, size_t num_updates) {
  return ReadResults<UpdateResult, v1::UpdateResponse>(std::move(reply),
                                                       num_updates);
}

absl::StatusOr<std::vector<EraseResult>> ReadEraseReply(grpc::ByteBuffer reply,
                                                        size_t num_erases) {
  return ReadResults<EraseResult, v1::EraseResponse>(std::move(reply),
                                                     num_erases);
}

bool HasAdd(absl::Span<const TableUpdate> updates) {
  return std::any_of(updates.begin(), updates.end(),
                     [](const TableUpdate& update) {
                       return update.mode == UpdateMode::kAdd;
                     });
}

}  // namespace

class Client::Impl {
 public:
  Impl(const ClientOptions& options, std::unique_ptr<Transport> transport)
      : timeout_(options.timeout),
        max_attempts_(options.max_attempts),
        backoff_(options.backoff),
        transport_(std::move(transport)) {}

  AttemptsOptions Attempts(const CallOptions& call) const {
    return {call.timeout.value_or(timeout_),
            call.max_attempts.value_or(max_attempts_), backoff_};
  }

  AttemptsOptions Attempts(const CallOptions& call,
                           absl::Span<const TableUpdate> updates) const {
    AttemptsOptions attempts = Attempts(call);
    if (HasAdd(updates)) attempts.max_attempts = 1;
    return attempts;
  }

  // `read` makes of an encoded reply to `num_parts` parts what callers get.
  template <typename Reply>
  absl::StatusOr<Reply> Call(const char* method,
                             const google::protobuf::MessageLite& request,
                             const AttemptsOptions& attempts, size_t num_parts,
                             absl::StatusOr<Reply> (*read)(grpc::ByteBuffer,
                                                           size_t)) {
    absl::StatusOr<grpc::ByteBuffer> reply =
        transport_->Call(method, Encode(request), attempts);
    if (!reply.ok()) return reply.status();
    return read(*std::move(reply), num_parts);
  }

  template <typename Reply>
  PendingCall Start(const char* method,
                    const google::protobuf::MessageLite& request,
                    const AttemptsOptions& attempts, size_t num_parts,
                    absl::StatusOr<Reply> (*read)(grpc::ByteBuffer, size_t),
                    Callback<Reply> done) {
    return transport_->Start(
        method, Encode(request), attempts,
        [read, num_parts, done = std::move(done)](
            absl::Status status, grpc::ByteBuffer reply) mutable {
          if (!status.ok()) {
            std::move(done)(std::move(status));
          } else {
            std::move(done)(read(std::move(reply), num_parts));
          }
        });
  }

  template <typename Message>
  absl::StatusOr<Message> CallFor(const char* method,
                                  const AttemptsOptions& attempts) {
    // The requests of these methods are empty.
    absl::StatusOr<grpc::ByteBuffer> reply =
        transport_->Call(method, Encode(v1::ListTablesRequest()), attempts);
    if (!reply.ok()) return reply.status();
    return Decode<Message>(*std::move(reply));
  }

 private:
  const absl::Duration timeout_;
  const int max_attempts_;
  const BackoffOptions backoff_;
  const std::unique_ptr<Transport> transport_;
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
  absl::StatusOr<std::unique_ptr<Transport>> transport =
      Transport::Create(options.connection);
  if (!transport.ok()) return transport.status();
  return std::unique_ptr<Client>(
      new Client(std::make_unique<Impl>(options, *std::move(transport))));
}

absl::StatusOr<LookupReply> Client::Lookup(
    absl::Span<const TableLookup> lookups, const CallOptions& options) {
  return impl_->Call(kLookup, ToMessage(lookups), impl_->Attempts(options),
                     lookups.size(), &ReadLookupReply);
}

PendingCall Client::LookupAsync(absl::Span<const TableLookup> lookups,
                                Callback<LookupReply> done,
                                const CallOptions& options) {
  return impl_->Start(kLookup, ToMessage(lookups), impl_->Attempts(options),
                      lookups.size(), &ReadLookupReply, std::move(done));
}

absl::StatusOr<std::vector<UpdateResult>> Client::Update(
    absl::Span<const TableUpdate> updates, const CallOptions& options) {
  return impl_->Call(kUpdate, ToMessage(updates),
                     impl_->Attempts(options, updates), updates.size(),
                     &ReadUpdateReply);
}

PendingCall Client::UpdateAsync(absl::Span<const TableUpdate> updates,
                                Callback<std::vector<UpdateResult>> done,
                                const CallOptions& options) {
  return impl_->Start(kUpdate, ToMessage(updates),
                      impl_->Attempts(options, updates), updates.size(),
                      &ReadUpdateReply, std::move(done));
}

absl::StatusOr<std::vector<EraseResult>> Client::Erase(
    absl::Span<const TableErase> erases, const CallOptions& options) {
  return impl_->Call(kErase, ToMessage(erases), impl_->Attempts(options),
                     erases.size(), &ReadEraseReply);
}

PendingCall Client::EraseAsync(absl::Span<const TableErase> erases,
                               Callback<std::vector<EraseResult>> done,
                               const CallOptions& options) {
  return impl_->Start(kErase, ToMessage(erases), impl_->Attempts(options),
                      erases.size(), &ReadEraseReply, std::move(done));
}

absl::StatusOr<std::vector<TableInfo>> Client::ListTables(
    const CallOptions& options) {
  const auto response = impl_->CallFor<v1::ListTablesResponse>(
      kListTables, impl_->Attempts(options));
  if (!response.ok()) return response.status();
  return FromMessage(*response);
}

absl::StatusOr<ServerInfo> Client::GetServerInfo(const CallOptions& options) {
  const auto response = impl_->CallFor<v1::GetServerInfoResponse>(
      kGetServerInfo, impl_->Attempts(options));
  if (!response.ok()) return response.status();
  return FromMessage(*response);
}

absl::StatusOr<Health> Client::CheckHealth(const CallOptions& options) {
  AttemptsOptions once = impl_->Attempts(options);
  once.max_attempts = 1;
  const auto response =
      impl_->CallFor<grpc::health::v1::HealthCheckResponse>(kCheckHealth, once);
  if (!response.ok()) return response.status();
  switch (response->status()) {
    case grpc::health::v1::HealthCheckResponse::SERVING:
      return Health::kServing;
    case grpc::health::v1::HealthCheckResponse::NOT_SERVING:
      return Health::kNotServing;
    default:
      return Health::kUnknown;
  }
}

}  // namespace gatherd::client
