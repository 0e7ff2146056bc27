#include "client/transport.h"

#include <grpcpp/grpcpp.h>

#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "client/grpc_status.h"

namespace gatherd::client {
namespace {

// Waits on the calling thread itself, which gRPC then has no other to wake for.
grpc::Status CallAndWait(grpc::GenericStub& stub, grpc::ClientContext& context,
                         const char* method, const grpc::ByteBuffer& request,
                         grpc::ByteBuffer* reply) {
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  grpc::Status status;
  call->Finish(reply, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> Transport::Create(
    ConnectionOptions connection) {
  const absl::StatusOr<std::shared_ptr<grpc::Channel>> channel =
      MakeChannel(connection);
  if (!channel.ok()) return channel.status();
  return std::unique_ptr<Transport>(
      new Transport(std::move(connection), *channel));
}

Transport::Transport(ConnectionOptions connection,
                     const std::shared_ptr<grpc::Channel>& channel)
    : connection_(std::move(connection)), stub_(channel) {}

absl::StatusOr<grpc::ByteBuffer> Transport::Call(
    const char* method, const grpc::ByteBuffer& request,
    const AttemptsOptions& options) {
  Attempts attempts(options);
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(attempts.deadline()));
    AddCredentials(connection_, context);
    grpc::ByteBuffer reply;
    const absl::Status status =
        FromGrpc(CallAndWait(stub_, context, method, request, &reply));
    if (status.ok()) return reply;
    const std::optional<absl::Duration> wait = attempts.WaitAfter(status);
    if (!wait.has_value()) return attempts.Result(status);
    absl::SleepFor(*wait);
  }
}

PendingCall Transport::Start(const char* method, grpc::ByteBuffer request,
                             const AttemptsOptions& options,
                             AsyncCall::Done done) {
  return calls_.Start(
      {&stub_, &connection_, method, std::move(request), options},
      std::move(done));
}

}  // namespace gatherd::client
