#include "server/application.h"

#include <grpcpp/impl/service_type.h>
#include <grpcpp/security/server_credentials.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/heap.h"
#include "core/catalog/catalog.h"
#include "core/exec/dispatcher.h"
#include "server/access/port_access.h"
#include "server/admission.h"
#include "server/call_clock.h"
#include "server/callback_threads.h"
#include "server/embedding_service.h"
#include "server/grpc_endpoint.h"
#include "server/http_server.h"
#include "server/idle_memory.h"
#include "server/log.h"
#include "server/metrics/metrics.h"
#include "server/metrics/rpc_metrics.h"
#include "server/open_calls.h"
#include "server/recent_refusals.h"
#include "server/serving_context.h"
#include "server/serving_state.h"
#include "server/status_page/status_page.h"
#include "server/table_service.h"
#include "server/table_startup.h"
#include "server/ticker.h"
#include "server/unread_replies.h"

namespace gatherd {
namespace {

// New calls are answered with UNAVAILABLE for at least so long: clients that
// follow health or the answers have gone elsewhere by then.
constexpr absl::Duration kMinRefusalTime = absl::Milliseconds(300);

// How late it may be noticed that a client takes no reply. Less than the second
// after which gRPC's threads rest.
constexpr absl::Duration kTickInterval = absl::Milliseconds(250);

// After so long without a request in flight, freed memory is given back.
constexpr absl::Duration kIdleTime = absl::Seconds(5);

// What callers of the tables leave to probes, scrapes and changed files.
constexpr int kSparedDescriptors = 64;

constexpr char kPlainText[] = "text/plain; charset=utf-8";
constexpr char kMetricsText[] = "text/plain; version=0.0.4; charset=utf-8";

class ApplicationImpl final : public Application {
 public:
  ApplicationImpl(const ServerConfig& config, Backend backend,
                  std::unique_ptr<Catalog> catalog,
                  std::function<void(const absl::Status&)> on_device_loss)
      : config_(config),
        backend_(std::move(backend)),
        catalog_(std::move(catalog)),
        dispatcher_(backend_.make_dispatcher()),
        unread_replies_(config.reply_timeout),
        admission_(config.max_inflight_bytes),
        metrics_(*catalog_, backend_.name, MakeGauges()),
        context_{*catalog_,
                 *dispatcher_,
                 admission_,
                 metrics_,
                 state_,
                 open_calls_,
                 unread_replies_,
                 refusals_,
                 {config.max_message_bytes, config.max_keys_per_request},
                 backend_.reply_memory,
                 config.default_deadline,
                 std::move(on_device_loss)},
        status_page_(context_,
                     {backend_.name, backend_.devices, backend_.links,
                      [this] { return grpc_->address(); }, absl::Now()}),
        embedding_service_(CreateEmbeddingService(context_)),
        table_service_(
            CreateTableService(context_, {backend_.name, backend_.devices})),
        startup_(*catalog_, backend_.make_table, *dispatcher_,
                 static_cast<uint32_t>(backend_.devices.size()), backend_.load),
        idle_memory_(admission_, kIdleTime, &ReturnFreedMemory),
        ticker_(kTickInterval, [this](absl::Time now) {
          unread_replies_.EndOverdue(now);
          idle_memory_.Look(now);
          callback_threads_.KeepAwake();
        }) {}

  absl::Status OpenPorts() {
    auto access = PortAccess::Create(config_);
    if (!access.ok()) return access.status();
    access_ = *std::move(access);
    if (!config_.health_address.empty()) {
      auto health = GrpcEndpoint::ListenForHealth(config_.health_address);
      if (!health.ok()) return health.status();
      health_ = *std::move(health);
    }
    auto grpc = GrpcEndpoint::Listen(
        {config_.address, MakeCredentials(), config_.max_message_bytes,
         config_.max_inflight_bytes, config_.reflection, kSparedDescriptors},
        {embedding_service_.get(), table_service_.get()});
    if (!grpc.ok()) return grpc.status();
    grpc_ = *std::move(grpc);
    auto http = HttpServer::Listen(config_.metrics_address, MakePages());
    if (!http.ok()) return http.status();
    http_ = *std::move(http);
    return absl::OkStatus();
  }

  const std::string& address() const override { return grpc_->address(); }
  const std::string& metrics_address() const override {
    return http_->address();
  }
  std::string health_address() const override {
    return health_ == nullptr ? "" : health_->address();
  }

  void StartTables(std::function<void(absl::Status)> done) override {
    startup_.Start([this, done = std::move(done)](absl::Status status) {
      if (status.ok()) BecomeReady();
      done(std::move(status));
    });
  }

  bool CancelStartup(absl::Time deadline) override {
    startup_.Cancel();
    return startup_.WaitForEnd(deadline - absl::Now());
  }

  void Drain(absl::Duration delay, absl::Duration timeout) override {
    state_.set_phase(ServingPhase::kDraining);
    SetHealth(false);
    absl::SleepFor(delay);
    state_.set_phase(ServingPhase::kRefusing);
    const absl::Time start = absl::Now();
    const absl::Time deadline = start + timeout;
    if (!open_calls_.Drain(deadline)) {
      Log(LogLevel::kWarning, "calls are cancelled, the time to end is over");
      grpc_->Shutdown(absl::Now());
      return;
    }
    absl::SleepFor(std::min(deadline, start + kMinRefusalTime) - absl::Now());
  }

  void RemoveSocketFiles() override {
    grpc_->RemoveSocketFile();
    if (health_ != nullptr) health_->RemoveSocketFile();
  }

 private:
  LiveGauges MakeGauges() {
    return {[this] { return admission_.num_requests(); },
            [this] { return admission_.num_bytes(); },
            [this] { return dispatcher_->num_queued(); }, backend_.device_stats,
            // Asked once the ports are open.
            [this] { return access_->Stats(); }};
  }

  HttpPages MakePages() {
    HttpPages pages;
    pages["/"] = [this] { return status_page_.Html(); };
    pages["/status.json"] = [this] { return status_page_.Json(); };
    pages["/metrics"] = [this] {
      return HttpPage{200, kMetricsText, metrics_.Render(), {}};
    };
    pages["/livez"] = [] { return HttpPage{200, kPlainText, "ok\n", {}}; };
    pages["/readyz"] = [this] {
      const ServingPhase phase = state_.phase();
      if (phase == ServingPhase::kServing) {
        return HttpPage{200, kPlainText, "ok\n", {}};
      }
      return HttpPage{
          503, kPlainText, std::string(ServingPhaseName(phase)) + "\n", {}};
    };
    return pages;
  }

  std::shared_ptr<grpc::ServerCredentials> MakeCredentials() {
    return access_->Credentials(
        [this](std::string_view path, const absl::Status& status) {
          CountRefusal(path, status);
        });
  }

  // A call that was refused for its token: no service sees it.
  void CountRefusal(std::string_view path, const absl::Status& status) {
    metrics_.requests().Rejected(Rejection::kUnauthorized);
    const std::optional<RpcMethod> method = FindRpcMethod(path);
    if (method.has_value()) {
      CallClock(metrics_.rpcs(), refusals_, *method).Handled(status);
    }
  }

  void BecomeReady() {
    if (state_.BecomeServing()) SetHealth(true);
  }

  void SetHealth(bool serving) {
    grpc_->SetServing(serving);
    if (health_ != nullptr) health_->SetServing(serving);
  }

  // Destroyed from the last to the first: ports, then what calls work with.
  const ServerConfig config_;
  const Backend backend_;
  const std::unique_ptr<Catalog> catalog_;
  const std::unique_ptr<Dispatcher> dispatcher_;
  ServingState state_;
  OpenCalls open_calls_;
  UnreadReplies unread_replies_;
  RecentRefusals refusals_;
  Admission admission_;
  Metrics metrics_;
  const ServingContext context_;
  const StatusPage status_page_;
  const std::unique_ptr<grpc::Service> embedding_service_;
  const std::unique_ptr<grpc::Service> table_service_;
  std::unique_ptr<PortAccess> access_;
  std::unique_ptr<GrpcEndpoint> health_;  // nullptr: there is none
  std::unique_ptr<GrpcEndpoint> grpc_;
  std::unique_ptr<HttpServer> http_;
  TableStartup startup_;
  // The ticker's.
  IdleMemory idle_memory_;
  CallbackThreads callback_threads_;
  const Ticker ticker_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Application>> Application::Create(
    const Config& config, Backend backend,
    std::function<void(const absl::Status&)> on_device_loss) {
  auto catalog = Catalog::Create(config.tables);
  if (!catalog.ok()) return catalog.status();
  auto application = std::make_unique<ApplicationImpl>(
      config.server, std::move(backend), *std::move(catalog),
      std::move(on_device_loss));
  absl::Status status = application->OpenPorts();
  if (!status.ok()) return status;
  return application;
}

}  // namespace gatherd
