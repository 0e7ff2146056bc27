#include "client/transport.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "client/grpc_status.h"

namespace gatherd::client {
namespace {

// Ample for the handshake and the answer about health of a server that is back.
constexpr absl::Duration kReconnectWait = absl::Milliseconds(50);

// After so long without a call something may be there to be read, which takes
// some turns of gRPC's.
constexpr int64_t kIdleNs = 100'000'000;
constexpr absl::Duration kReadTime = absl::Milliseconds(4);

// gRPC reads from connections only while somebody waits for something of it,
// and by itself every 5 s. Between blocking calls nobody does.
void ReadConnections(grpc::Channel& channel, grpc_connectivity_state state,
                     absl::Time until) {
  channel.WaitForStateChange(state, absl::ToChronoTime(until));
}

grpc_connectivity_state StateOf(grpc::Channel& channel) {
  constexpr bool kTryToConnect = false;  // gRPC does, after its own waits
  return channel.GetState(kTryToConnect);
}

// A call that finds all servers failing ends at once: calls and sleeps alone
// would leave each step of a new connection to the next 5 s.
void WaitIfFailing(grpc::Channel& channel, absl::Time deadline) {
  const grpc_connectivity_state state = StateOf(channel);
  if (state != GRPC_CHANNEL_TRANSIENT_FAILURE) return;
  ReadConnections(channel, state,
                  std::min(deadline, absl::Now() + kReconnectWait));
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
  if (options.max_attempts == 1) ReadIfIdle(attempts.deadline());
  const absl::Cleanup note_end = [this] {
    last_call_ns_.store(absl::GetCurrentTimeNanos(), std::memory_order_relaxed);
  };
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

// A call that is never repeated must not go to a server that said goodbye while
// nobody read it.
void Transport::ReadIfIdle(absl::Time deadline) {
  const int64_t now_ns = absl::GetCurrentTimeNanos();
  const int64_t last_ns = last_call_ns_.load(std::memory_order_relaxed);
  if (now_ns - last_ns < kIdleNs) return;
  ReadConnections(*channel_, StateOf(*channel_),
                  std::min(deadline, absl::Now() + kReadTime));
}

PendingCall Transport::Start(const char* method, grpc::ByteBuffer request,
                             const AttemptsOptions& options,
                             AsyncCall::Done done) {
  return calls_.Start(
      {&stub_, &connection_, method, std::move(request), options},
      std::move(done));
}

}  // namespace gatherd::client
