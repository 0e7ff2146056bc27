#include "server/grpc_endpoint.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
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

// gRPC's own log lines go where ours go.
void LogLine(gpr_log_func_args* line) {
  Log(line->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning
                                               : LogLevel::kDebug,
      "grpc", {{"text", line->message}});
}

void SetUpTransport(uint64_t max_message_bytes, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(
      std::min<uint64_t>(max_message_bytes, std::numeric_limits<int>::max())));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      kMinClientPingIntervalMs);
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

absl::Status CannotListen(const std::string& address) {
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address,
                   ": the address is in use or cannot be used here"));
}

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
                 kMaxHealthMessageBytes, false},
                {});
}

GrpcEndpoint::GrpcEndpoint()
    : fallback_(std::make_unique<grpc::CallbackGenericService>()) {}

absl::Status GrpcEndpoint::Open(const GrpcEndpointOptions& options,
                                absl::Span<grpc::Service* const> services) {
  const std::string& address = options.address;
  const std::string_view path = UnixSocketPath(address);
  if (!path.empty() && UnixSocketInUse(path)) return CannotListen(address);

  gpr_set_log_function(&LogLine);
  // It would write a line for every request that does not parse.
  google::protobuf::SetLogHandler(nullptr);
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  SetUpTransport(options.max_message_bytes, builder);
  if (!options.reflection) {
    builder.SetOption(std::make_unique<WithoutReflection>());
  }
  for (grpc::Service* service : services) builder.RegisterService(service);
  if (services.empty()) builder.RegisterCallbackGenericService(fallback_.get());
  int port = 0;
  builder.AddListeningPort(address, options.credentials, &port);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return CannotListen(address);
  address_ = WithPort(address, port);
  SetServing(false);
  return absl::OkStatus();
}

GrpcEndpoint::~GrpcEndpoint() {
  if (server_ != nullptr) Shutdown(absl::Now());
}

void GrpcEndpoint::SetServing(bool serving) {
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  health->SetServingStatus("", serving);
  health->SetServingStatus(kEmbeddingService, serving);
}

void GrpcEndpoint::RemoveSocketFile() const {
  const std::string path(UnixSocketPath(address_));
  if (!path.empty()) unlink(path.c_str());
}

void GrpcEndpoint::Shutdown(absl::Time deadline) {
  server_->Shutdown(absl::ToChronoTime(deadline));
}

}  // namespace gatherd
