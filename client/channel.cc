#include "client/channel.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "client/target.h"

namespace gatherd::client {
namespace {

// gRPC waits this long after a failed connection before it tries again, and
// fails every call meanwhile. Its own first wait, a second, is longer than
// most of our deadlines.
constexpr int kInitialReconnectBackoffMs = 50;
constexpr int kMaxReconnectBackoffMs = 2000;

// A server that vanishes without closing its connections is left after the sum
// of these; after the second alone while calls are sent to it. The first is
// more than the 10 s that gatherd wants between pings, the second more than
// twice the 5 s after which gRPC reads an answer that no call waits for.
constexpr int kKeepaliveTimeMs = 12'000;
constexpr int kKeepaliveTimeoutMs = 12'000;
constexpr int kUnlimited = 0;

// A server that comes back may have another address. gRPC asks for names anew
// when a connection ends, but by itself not within 30 s of the last time.
constexpr int kMinTimeBetweenResolutionsMs = 1000;

// Servers in turn, but for those whose health service says that they do not
// serve: a draining server is left before it refuses anything.
constexpr char kInTurn[] = R"({"loadBalancingConfig": [{"round_robin": {}}],)"
                           R"( "healthCheckConfig": {"serviceName": ""}})";

std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(
    const ConnectionOptions& options) {
  if (!options.tls.has_value()) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = options.tls->ca;
  ssl.pem_cert_chain = options.tls->certificate;
  ssl.pem_private_key = options.tls->key;
  return grpc::SslCredentials(ssl);
}

}  // namespace

void SilenceGrpcLog() {
  constexpr int kKeepWhatIsSet = 0;
  setenv("GRPC_VERBOSITY", "NONE", kKeepWhatIsSet);
}

absl::Status CheckConnectionOptions(const ConnectionOptions& options) {
  if (absl::StatusOr<Target> target = ParseAddress(options.address);
      !target.ok()) {
    return target.status();
  }
  const std::string& token = options.token;
  if (!std::all_of(token.begin(), token.end(), [](char c) {
        return absl::ascii_isgraph(static_cast<unsigned char>(c));
      })) {
    return absl::InvalidArgumentError(
        "token has a character that is not printable ASCII, or a space");
  }
  if (options.tls.has_value() &&
      options.tls->certificate.empty() != options.tls->key.empty()) {
    return absl::InvalidArgumentError(
        "a client certificate needs its key, and a key its certificate");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(
    const ConnectionOptions& options) {
  if (absl::Status status = CheckConnectionOptions(options); !status.ok()) {
    return status;
  }
  const absl::StatusOr<Target> target = ParseAddress(options.address);
  if (!target.ok()) return target.status();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // Channels to one address would otherwise share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                   kInitialReconnectBackoffMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectBackoffMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, kUnlimited);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS,
                   kMinTimeBetweenResolutionsMs);
  // A retry policy out of DNS could repeat an ADD.
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  if (target->is_several) arguments.SetServiceConfigJSON(kInTurn);
  if (options.tls.has_value() && !options.tls->server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls->server_name);
  }
  return grpc::CreateCustomChannel(target->name, MakeCredentials(options),
                                   arguments);
}

void AddCredentials(const ConnectionOptions& options,
                    grpc::ClientContext& context) {
  if (options.token.empty()) return;
  context.AddMetadata("authorization", absl::StrCat("Bearer ", options.token));
}

}  // namespace gatherd::client
