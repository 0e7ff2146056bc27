// Connections to a server: where it is, and how to prove who we are. Shared by
// the client library and the load generator.
#ifndef GATHERD_CLIENT_CHANNEL_H_
#define GATHERD_CLIENT_CHANNEL_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grpc {
class Channel;
class ClientContext;
}  // namespace grpc

namespace gatherd::client {

// PEM texts, not file names.
struct TlsOptions {
  std::string ca;           // who signs the server's certificate
  std::string certificate;  // ours, if the server wants one; with `key`
  std::string key;
  // The name that the server's certificate must have; empty: the address's.
  std::string server_name = {};
};

struct ConnectionOptions {
  // HOST:PORT, unix:/path, or any other name that gRPC resolves: one server.
  //
  // IP:PORT,IP:PORT,... or dns:///NAME:PORT: servers that have the same tables,
  // asked in turn. One that ends, refuses connections or says by its health
  // service that it does not serve, as a server does once it drains, is left
  // out until it serves again.
  std::string address = "localhost:7400";
  std::optional<TlsOptions> tls;  // none: plaintext
  // Sent as `authorization: Bearer TOKEN` with every call; empty: none. Without
  // TLS it travels in the clear: a server may be set up so, on a network that
  // is trusted. The programs warn of it, the library does not.
  std::string token;
};

// Keeps gRPC's own log lines off a program's stderr, unless GRPC_VERBOSITY asks
// for them. For main(), before anything else of gRPC.
void SilenceGrpcLog();

// INVALID_ARGUMENT if the options contradict each other.
absl::Status CheckConnectionOptions(const ConnectionOptions& options);

// A channel with a connection of its own, not yet connected. Messages of any
// size pass in both directions: the server's limits decide. Thread-safe.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(
    const ConnectionOptions& options);

// Adds what the server is to see with each call.
void AddCredentials(const ConnectionOptions& options,
                    grpc::ClientContext& context);

}  // namespace gatherd::client

#endif  // GATHERD_CLIENT_CHANNEL_H_
