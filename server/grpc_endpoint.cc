#include "server/grpc_endpoint.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/connection_listener.h"
#include "server/listen_address.h"
#include "server/log.h"

namespace gatherd {
namespace {

constexpr char kEmbeddingService[] = "gatherd.v1.EmbeddingService";

// A peer that has vanished without closing is noticed within 80 seconds.
constexpr int kKeepaliveTimeMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
// Clients may ping this often, also between calls, as proxies make them.
constexpr int kMinClientPingIntervalMs = 10'000;

// For connections, and requests that are small.
constexpr uint64_t kMinRequestBytes = uint64_t{128} << 20;

// How long a connection may take to say who it is, in TLS and in HTTP/2.
constexpr int kHandshakeTimeoutMs = 10'000;
// Of gRPC, in the log.
constexpr int kMaxErrorsPerSecond = 10;

// Whether one more of gRPC's errors may be written: each handshake that fails
// is one, so clients decide how many there are.
bool IsWithinErrorRate() {
  static std::atomic<int64_t> second{0};
  static std::atomic<int> num_errors{0};
  const int64_t now = absl::ToUnixSeconds(absl::Now());
  // Relaxed: an error more or less where two threads meet does not matter.
  if (second.exchange(now, std::memory_order_relaxed) != now) {
    num_errors.store(0, std::memory_order_relaxed);
  }
  return num_errors.fetch_add(1, std::memory_order_relaxed) <
         kMaxErrorsPerSecond;
}

// gRPC's own log lines go where ours go.
void LogLine(gpr_log_func_args* line) {
  const bool is_error = line->severity == GPR_LOG_SEVERITY_ERROR;
  if (is_error && !IsWithinErrorRate()) return;
  Log(is_error ? LogLevel::kWarning : LogLevel::kDebug, "grpc",
      {{"text", line->message}});
}

void SetUpTransport(uint64_t max_message_bytes, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<uint64_t>(max_message_bytes, std::numeric_limits<int>::max())));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      kMinClientPingIntervalMs);
}

void BoundRequestMemory(const GrpcEndpointOptions& options,
                        grpc::ServerBuilder& builder) {
  const uint64_t bytes =
      std::max({options.max_request_bytes, 2 * options.max_message_bytes,
                kMinRequestBytes});
  grpc::ResourceQuota quota("requests");
  // gRPC counts in signed numbers.
  quota.Resize(std::min<uint64_t>(bytes, std::numeric_limits<int64_t>::max()));
  builder.SetResourceQuota(quota);
}

// Reflection comes with the library to every server of the process.
class WithoutReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>*
                         plugins) override {
    plugins->erase(std::remove_if(plugins->begin(), plugins->end(),
                                  [](const auto& plugin) {
                                    return plugin->name() ==
                                           "proto_server_reflection";
                                  }),
                   plugins->end());
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcEndpoint>> GrpcEndpoint::Listen(
    const GrpcEndpointOptions& options,
    absl::Span<grpc::Service* const> services) {
  std::unique_ptr<GrpcEndpoint> endpoint(new GrpcEndpoint);
  absl::Status status = endpoint->Open(options, services);
  if (!status.ok()) return status;
  return endpoint;
}

absl::StatusOr<std::unique_ptr<GrpcEndpoint>> GrpcEndpoint::ListenForHealth(
    const std::string& address) {
  constexpr uint64_t kMaxHealthMessageBytes = 4096;
  return Listen({address, grpc::InsecureServerCredentials(),
                 kMaxHealthMessageBytes, kMinRequestBytes, false},
                {});
}

GrpcEndpoint::GrpcEndpoint()
    : fallback_(std::make_unique<grpc::CallbackGenericService>()) {}

absl::Status GrpcEndpoint::Open(const GrpcEndpointOptions& options,
                                absl::Span<grpc::Service* const> services) {
  auto listener = ConnectionListener::Listen(
      options.address, {options.spared_descriptors, nullptr});
  if (!listener.ok()) return listener.status();
  listener_ = *std::move(listener);

  gpr_set_log_function(&LogLine);
  // It would write a line for every request that does not parse.
  google::protobuf::SetLogHandler(nullptr);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  SetUpTransport(options.max_message_bytes, builder);
  BoundRequestMemory(options, builder);
  if (!options.reflection) {
    builder.SetOption(std::make_unique<WithoutReflection>());
  }
  for (grpc::Service* service : services) builder.RegisterService(service);
  if (services.empty()) builder.RegisterCallbackGenericService(fallback_.get());
  acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      options.credentials);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot serve gRPC on ", address()));
  }
  SetServing(false);
  listener_->Start([this](int fd) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
        connection;
    connection.fd = fd;
    acceptor_->HandleNewConnection(&connection);
  });
  return absl::OkStatus();
}

GrpcEndpoint::~GrpcEndpoint() {
  if (server_ != nullptr) Shutdown(absl::Now());
}

const std::string& GrpcEndpoint::address() const {
  return listener_->address();
}

void GrpcEndpoint::SetServing(bool serving) {
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  health->SetServingStatus("", serving);
  health->SetServingStatus(kEmbeddingService, serving);
}

void GrpcEndpoint::RemoveSocketFile() {
  const std::string path(UnixSocketPath(address()));
  if (path.empty() || is_file_removed_.exchange(true)) return;
  unlink(path.c_str());
}

void GrpcEndpoint::Shutdown(absl::Time deadline) {
  // First: once nobody listens, the file may be that of a successor.
  RemoveSocketFile();
  listener_->Stop();
  server_->Shutdown(absl::ToChronoTime(deadline));
}

}  // namespace gatherd
