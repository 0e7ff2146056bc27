#include "client/transport.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "client/grpc_status.h"

namespace gatherd::client {
namespace {

// Ample for the handshake and the answer about health of a server that is back.
constexpr absl::Duration kLongestReconnectWait = absl::Milliseconds(50);

// gRPC reads from connections only while somebody waits for something of it,
// and by itself every 5 s. A call that finds all servers failing ends at once,
// so calls and sleeps alone would leave each step of a new connection to that.
void WaitIfFailing(grpc::Channel& channel, absl::Time deadline) {
  constexpr bool kTryToConnect = false;  // gRPC does, after its own waits
  if (channel.GetState(kTryToConnect) != GRPC_CHANNEL_TRANSIENT_FAILURE) return;
  channel.WaitForStateChange(
      GRPC_CHANNEL_TRANSIENT_FAILURE,
      absl::ToChronoTime(
          std::min(deadline, absl::Now() + kLongestReconnectWait)));
}

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
    : connection_(std::move(connection)), channel_(channel), stub_(channel) {}

absl::StatusOr<grpc::ByteBuffer> Transport::Call(
    const char* method, const grpc::ByteBuffer& request,
    const AttemptsOptions& options) {
  Attempts attempts(options);
  while (true) {
    WaitIfFailing(*channel_, attempts.deadline());
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
