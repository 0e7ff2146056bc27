// A gRPC port: transport options, health (grpc.health.v1), reflection.
#ifndef GATHERD_SERVER_GRPC_ENDPOINT_H_
#define GATHERD_SERVER_GRPC_ENDPOINT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace grpc {
class CallbackGenericService;
class Server;
class ServerCredentials;
class Service;
namespace experimental {
class ExternalConnectionAcceptor;
}
}  // namespace grpc

namespace gatherd {

class ConnectionListener;

struct GrpcEndpointOptions {
  std::string address;
  std::shared_ptr<grpc::ServerCredentials> credentials;
  uint64_t max_message_bytes;
  // What requests may take in the transport. It reads a request wholly before
  // anyone can count it: beyond this gRPC reads slowly, then resets calls
  // (RESOURCE_EXHAUSTED) and connections (UNAVAILABLE). Never less than 128
  // MiB, or than two of the largest requests.
  uint64_t max_request_bytes;
  bool reflection;
  // As in ConnectionListener::Options.
  int spared_descriptors = 0;
};

class GrpcEndpoint {
 public:
  // Opens the address at once, health saying NOT_SERVING. The services outlive
  // the endpoint. UNAVAILABLE naming the address if it cannot be had, because
  // it is in use or not of this machine.
  static absl::StatusOr<std::unique_ptr<GrpcEndpoint>> Listen(
      const GrpcEndpointOptions& options,
      absl::Span<grpc::Service* const> services);

  // The same in plaintext, with health and nothing else.
  static absl::StatusOr<std::unique_ptr<GrpcEndpoint>> ListenForHealth(
      const std::string& address);

  // Shuts down, cancelling what still runs.
  ~GrpcEndpoint();

  // Where it listens, with the port that was picked for port 0.
  const std::string& address() const;

  // What health says of the server and of EmbeddingService.
  void SetServing(bool serving);

  // Of a unix: address; for a process that ends without Shutdown, which does
  // it, too.
  void RemoveSocketFile();

  // Takes no connections and no calls any more, lets those that run end until
  // `deadline`, then cancels them. Returns when all have ended.
  void Shutdown(absl::Time deadline);

 private:
  GrpcEndpoint();

  absl::Status Open(const GrpcEndpointOptions& options,
                    absl::Span<grpc::Service* const> services);

  // Answers UNIMPLEMENTED on a port without services: gRPC wants one.
  const std::unique_ptr<grpc::CallbackGenericService> fallback_;
  // Gives gRPC its connections.
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;  // nullptr if it cannot be opened
  std::unique_ptr<ConnectionListener> listener_;
  std::atomic<bool> is_file_removed_ = false;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_GRPC_ENDPOINT_H_
