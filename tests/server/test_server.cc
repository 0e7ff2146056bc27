#include "tests/server/test_server.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/impl/client_unary_call.h>
#include <httplib.h>

#include <catch2/catch.hpp>
#include <sstream>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "tests/server/wire.h"

namespace gatherd {
namespace {

httplib::Result Get(const std::string& address, const std::string& path) {
  httplib::Client client("http://" + address);
  return client.Get(path.c_str());
}

Backend WithTables(TableFactory make_table) {
  Backend backend = CpuBackend();
  backend.make_table = std::move(make_table);
  return backend;
}

}  // namespace

Config TestConfig(std::vector<CatalogTableSpec> tables) {
  Config config;
  config.server.address = "127.0.0.1:0";
  config.server.metrics_address = "127.0.0.1:0";
  config.server.default_deadline = absl::Seconds(30);
  config.server.shutdown_timeout = absl::Seconds(5);
  config.devices.kind = DevicesConfig::Kind::kCpu;
  config.tables = std::move(tables);
  return config;
}

TestServer::TestServer(const Config& config, TableFactory make_table,
                       Startup startup)
    : TestServer(config, WithTables(std::move(make_table)), startup) {}

TestServer::TestServer(const Config& config, Backend backend, Startup startup) {
  auto application =
      Application::Create(config, std::move(backend), IgnoreLoss);
  INFO(application.status());
  REQUIRE(application.ok());
  application_ = *std::move(application);
  channel_ = grpc::CreateChannel(application_->address(),
                                 grpc::InsecureChannelCredentials());
  stub_ = v1::EmbeddingService::NewStub(channel_);
  tables_ = v1::TableService::NewStub(channel_);
  if (startup == Startup::kWait) REQUIRE(StartTables().ok());
}

TestServer::~TestServer() = default;

absl::Status TestServer::StartTables() {
  absl::Notification done;
  absl::Status status;
  application_->StartTables([&](absl::Status result) {
    status = std::move(result);
    done.Notify();
  });
  done.WaitForNotification();
  return status;
}

int TestServer::HttpStatus(const std::string& path) {
  const auto result = Get(application_->metrics_address(), path);
  return result ? result->status : -1;
}

std::string TestServer::HttpBody(const std::string& path) {
  const auto result = Get(application_->metrics_address(), path);
  return result ? result->body : "";
}

double TestServer::Metric(const std::string& series) {
  std::istringstream lines(HttpBody("/metrics"));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.compare(0, series.size() + 1, series + " ") == 0) {
      return std::stod(line.substr(series.size() + 1));
    }
  }
  return -1;
}

bool TestServer::MetricBecomes(const std::string& series, double value) {
  for (int i = 0; i < 500; ++i) {
    if (Metric(series) == value) return true;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return false;
}

v1::LookupResponse TestServer::Lookup(const std::string& table, int64_t key,
                                      grpc::Status* status) {
  v1::LookupRequest request;
  v1::TableLookup* part = request.add_lookups();
  part->set_table(table);
  part->add_keys(key);
  v1::LookupResponse response;
  grpc::ClientContext context;
  *status = stub_->Lookup(&context, request, &response);
  return response;
}

grpc::Status TestServer::Set(const std::string& table, int64_t key,
                             const std::vector<float>& row) {
  v1::UpdateRequest request;
  v1::TableUpdate* part = request.add_updates();
  part->set_table(table);
  part->add_keys(key);
  part->set_values(row.data(), row.size() * sizeof(float));
  v1::UpdateResponse response;
  grpc::ClientContext context;
  return stub_->Update(&context, request, &response);
}

grpc::Status TestServer::SendBytes(const char* method, const std::string& bytes,
                                   std::string* reply) {
  grpc::ByteBuffer reply_bytes;
  grpc::ClientContext context;
  const grpc::Status status = grpc::internal::BlockingUnaryCall(
      channel_.get(),
      grpc::internal::RpcMethod(method, grpc::internal::RpcMethod::NORMAL_RPC),
      &context, ToBytes(bytes), &reply_bytes);
  if (reply != nullptr) *reply = ToString(reply_bytes);
  return status;
}

std::string TestServer::Health(const std::string& service) {
  // HealthCheckRequest{service = 1}, HealthCheckResponse{status = 1}.
  std::string request("\x0a");
  request.push_back(static_cast<char>(service.size()));
  std::string reply;
  const grpc::Status status =
      SendBytes("/grpc.health.v1.Health/Check", request + service, &reply);
  if (!status.ok()) return status.error_message();
  if (reply == "\x08\x01") return "SERVING";
  if (reply == "\x08\x02") return "NOT_SERVING";
  return "UNKNOWN";
}

}  // namespace gatherd
