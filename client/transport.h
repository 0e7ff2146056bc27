// Calls of encoded messages over one channel, blocking or not.
#ifndef GATHERD_CLIENT_TRANSPORT_H_
#define GATHERD_CLIENT_TRANSPORT_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/async_call.h"
#include "client/attempts.h"
#include "client/channel.h"
#include "client/pending_call.h"

namespace gatherd::client {

// Thread-safe. Methods are as "/package.Service/Method". Its end cancels what
// was started and waits for the callbacks, so none of them may bring it about.
class Transport {
 public:
  static absl::StatusOr<std::unique_ptr<Transport>> Create(
      ConnectionOptions connection);

  absl::StatusOr<grpc::ByteBuffer> Call(const char* method,
                                        const grpc::ByteBuffer& request,
                                        const AttemptsOptions& options);

  PendingCall Start(const char* method, grpc::ByteBuffer request,
                    const AttemptsOptions& options, AsyncCall::Done done);

 private:
  Transport(ConnectionOptions connection,
            const std::shared_ptr<grpc::Channel>& channel);

  void ReadIfIdle(absl::Time deadline);

  const ConnectionOptions connection_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  std::atomic<int64_t> last_call_ns_ = 0;  // its end, since 1970
  AsyncCalls calls_;                       // last: they use the rest
};

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_TRANSPORT_H_
