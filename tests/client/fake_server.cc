#include "tests/client/fake_server.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "proto/gatherd/v1/gatherd.grpc.pb.h"

namespace gatherd::client {
namespace {

grpc::Status UnknownTable(const std::string& name) {
  return {grpc::StatusCode::NOT_FOUND,
          absl::StrCat("table \"", name, "\" does not exist")};
}

std::shared_ptr<grpc::ServerCredentials> MakeCredentials(
    const FakeServerOptions& options) {
  if (options.certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions ssl(
      options.client_ca.empty()
          ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
          : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  ssl.pem_key_cert_pairs.push_back({options.key, options.certificate});
  ssl.pem_root_certs = options.client_ca;
  return grpc::SslServerCredentials(ssl);
}

bool Exists(const FakeTable& table, int64_t key) {
  return table.rows.count(key) != 0;
}

void LookUp(const FakeTable& table, const v1::TableLookup& lookup,
            v1::TableRows* result) {
  result->set_data_type(v1::DATA_TYPE_FLOAT32);
  result->set_dim(table.dim);
  result->set_revision(table.revision);
  std::string missing((lookup.keys_size() + 7) / 8, '\0');
  std::vector<float> values;
  std::vector<float> zeros(table.dim);
  for (int i = 0; i < lookup.keys_size(); ++i) {
    const auto found = table.rows.find(lookup.keys(i));
    const std::vector<float>& row =
        found == table.rows.end() ? zeros : found->second;
    if (found == table.rows.end()) {
      result->set_num_missing(result->num_missing() + 1);
      missing[i / 8] = static_cast<char>(missing[i / 8] | 1 << i % 8);
    }
    values.insert(values.end(), row.begin(), row.end());
  }
  if (lookup.pooling() != v1::POOLING_NONE) {  // one bag, the sum
    std::vector<float> sum(table.dim);
    for (size_t i = 0; i < values.size(); ++i) {
      sum[i % table.dim] += values[i];
    }
    values = sum;
  }
  result->set_num_rows(static_cast<uint32_t>(values.size() / table.dim));
  result->set_values(values.data(), values.size() * sizeof(float));
  if (result->num_missing() != 0) result->set_missing(missing);
}

void Apply(FakeTable& table, const v1::TableUpdate& update,
           v1::UpdateResult* result) {
  for (int i = 0; i < update.keys_size(); ++i) {
    const int64_t key = update.keys(i);
    if (!Exists(table, key) &&
        (table.dense || update.mode() == v1::UPDATE_MODE_SET_EXISTING)) {
      result->set_num_skipped(result->num_skipped() + 1);
      continue;
    }
    if (Exists(table, key)) {
      result->set_num_updated(result->num_updated() + 1);
    } else {
      result->set_num_inserted(result->num_inserted() + 1);
    }
    std::vector<float> values(table.dim);
    std::memcpy(values.data(),
                update.values().data() + i * table.dim * sizeof(float),
                table.dim * sizeof(float));
    std::vector<float>& row = table.rows[key];
    row.resize(table.dim);
    for (uint32_t j = 0; j < table.dim; ++j) {
      row[j] =
          values[j] + (update.mode() == v1::UPDATE_MODE_ADD ? row[j] : 0.0f);
    }
  }
  result->set_revision(++table.revision);
}

}  // namespace

class FakeServer::Service final : public v1::EmbeddingService::Service,
                                  public v1::TableService::Service {
 public:
  explicit Service(const FakeServerOptions& options) : options_(options) {
    tables_["words"].dim = 4;
    tables_["items"].dim = 2;
    tables_["items"].dense = true;
    for (int64_t i = 0; i < 10; ++i) tables_["items"].rows[i] = {0, 0};
  }

  grpc::Status Lookup(grpc::ServerContext* context,
                      const v1::LookupRequest* request,
                      v1::LookupResponse* response) override {
    if (grpc::Status status = Begin(context); !status.ok()) return status;
    absl::MutexLock lock(&mutex_);
    for (const v1::TableLookup& lookup : request->lookups()) {
      const auto table = tables_.find(lookup.table());
      if (table == tables_.end()) return UnknownTable(lookup.table());
      LookUp(table->second, lookup, response->add_results());
      if (is_spoiled_) {
        std::string* values =
            response->mutable_results()->rbegin()->mutable_values();
        std::fill(values->begin(), values->end(), '\x42');
      }
    }
    return grpc::Status::OK;
  }

  grpc::Status Update(grpc::ServerContext* context,
                      const v1::UpdateRequest* request,
                      v1::UpdateResponse* response) override {
    if (grpc::Status status = Begin(context); !status.ok()) return status;
    absl::MutexLock lock(&mutex_);
    for (const v1::TableUpdate& update : request->updates()) {
      const auto table = tables_.find(update.table());
      if (table == tables_.end()) return UnknownTable(update.table());
      if (update.values().size() !=
          update.keys_size() * table->second.dim * sizeof(float)) {
        return {grpc::StatusCode::INVALID_ARGUMENT,
                absl::StrCat("table \"", update.table(), "\": values has ",
                             update.values().size(), " bytes")};
      }
      update_sizes_.push_back(update.keys_size());
      if (num_kept_updates_-- <= 0) {
        response->add_results();
        continue;
      }
      Apply(table->second, update, response->add_results());
    }
    return grpc::Status::OK;
  }

  grpc::Status Erase(grpc::ServerContext* context,
                     const v1::EraseRequest* request,
                     v1::EraseResponse* response) override {
    if (grpc::Status status = Begin(context); !status.ok()) return status;
    absl::MutexLock lock(&mutex_);
    for (const v1::TableErase& erase : request->erases()) {
      const auto table = tables_.find(erase.table());
      if (table == tables_.end()) return UnknownTable(erase.table());
      size_t num_erased = 0;
      for (const int64_t key : erase.keys()) {
        num_erased += table->second.rows.erase(key);
        if (table->second.dense) {
          table->second.rows[key].assign(table->second.dim, 0);
        }
      }
      v1::EraseResult* result = response->add_results();
      result->set_num_erased(static_cast<uint32_t>(num_erased));
      result->set_revision(++table->second.revision);
    }
    return grpc::Status::OK;
  }

  grpc::Status ListTables(grpc::ServerContext* context,
                          const v1::ListTablesRequest*,
                          v1::ListTablesResponse* response) override {
    if (grpc::Status status = Begin(context); !status.ok()) return status;
    absl::MutexLock lock(&mutex_);
    for (const auto& [name, table] : tables_) {
      v1::TableInfo* info = response->add_tables();
      info->set_name(name);
      info->set_data_type(v1::DATA_TYPE_FLOAT32);
      info->set_dim(table.dim);
      info->set_key_space(table.dense ? "dense" : "hashed");
      info->set_num_rows(table.rows.size());
      info->set_revision(table.revision);
      v1::TierInfo* tier = info->add_tiers();
      tier->set_kind("host");
      tier->set_capacity_rows(1000);
      tier->set_num_rows(table.rows.size());
      tier->set_memory_bytes(123456);
    }
    return grpc::Status::OK;
  }

  grpc::Status GetServerInfo(grpc::ServerContext* context,
                             const v1::GetServerInfoRequest*,
                             v1::GetServerInfoResponse* response) override {
    if (grpc::Status status = Begin(context); !status.ok()) return status;
    response->set_version("9.9.9");
    response->set_backend("cpu");
    response->set_max_keys_per_request(options_.max_keys_per_request);
    response->set_max_message_bytes(options_.max_message_bytes);
    return grpc::Status::OK;
  }

  grpc::Status Begin(grpc::ServerContext* context) {
    int delay_ms = 0;
    grpc::Status status;
    {
      absl::MutexLock lock(&mutex_);
      ++num_calls_;
      const auto& metadata = context->client_metadata();
      const auto found = metadata.find("authorization");
      authorization_ =
          found == metadata.end()
              ? std::string()
              : std::string(found->second.data(), found->second.size());
      delay_ms = delay_ms_;
      if (num_failures_ > 0) {
        --num_failures_;
        status = failure_;
      }
    }
    for (int ms = 0; ms < delay_ms && !context->IsCancelled(); ++ms) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    return status;
  }

  const FakeServerOptions options_;
  mutable absl::Mutex mutex_;
  std::map<std::string, FakeTable> tables_ ABSL_GUARDED_BY(mutex_);
  int num_calls_ ABSL_GUARDED_BY(mutex_) = 0;
  int num_failures_ ABSL_GUARDED_BY(mutex_) = 0;
  grpc::Status failure_ ABSL_GUARDED_BY(mutex_);
  int delay_ms_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string authorization_ ABSL_GUARDED_BY(mutex_);
  bool is_spoiled_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t num_kept_updates_ ABSL_GUARDED_BY(mutex_) =
      std::numeric_limits<int64_t>::max();
  std::vector<int> update_sizes_ ABSL_GUARDED_BY(mutex_);
};

struct FakeServer::Servers {
  explicit Servers(const FakeServerOptions& options) : service(options) {}

  Service service;
  std::unique_ptr<grpc::Server> server;
};

FakeServer::FakeServer(const FakeServerOptions& options)
    : servers_(std::make_unique<Servers>(options)) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(options.address, MakeCredentials(options), &port);
  builder.SetMaxReceiveMessageSize(-1);
  Service* service = &servers_->service;
  builder.RegisterService(static_cast<v1::EmbeddingService::Service*>(service));
  builder.RegisterService(static_cast<v1::TableService::Service*>(service));
  servers_->server = builder.BuildAndStart();
  address_ = options.address == FakeServerOptions().address
                 ? absl::StrCat("127.0.0.1:", port)
                 : options.address;
}

FakeServer::~FakeServer() {
  servers_->server->Shutdown(std::chrono::system_clock::now());
}

void FakeServer::FailNext(int num_calls, int code, const std::string& message) {
  absl::MutexLock lock(&servers_->service.mutex_);
  servers_->service.num_failures_ = num_calls;
  servers_->service.failure_ =
      grpc::Status(static_cast<grpc::StatusCode>(code), message);
}

void FakeServer::DelayCalls(int milliseconds) {
  absl::MutexLock lock(&servers_->service.mutex_);
  servers_->service.delay_ms_ = milliseconds;
}

void FakeServer::SetServing(bool serving) {
  servers_->server->GetHealthCheckService()->SetServingStatus(serving);
}

void FakeServer::SpoilRows() {
  absl::MutexLock lock(&servers_->service.mutex_);
  servers_->service.is_spoiled_ = true;
}

void FakeServer::LoseUpdates(int num_calls) {
  absl::MutexLock lock(&servers_->service.mutex_);
  servers_->service.num_kept_updates_ = num_calls;
}

FakeTable FakeServer::GetTable(const std::string& name) const {
  absl::MutexLock lock(&servers_->service.mutex_);
  return servers_->service.tables_.at(name);
}

int FakeServer::num_calls() const {
  absl::MutexLock lock(&servers_->service.mutex_);
  return servers_->service.num_calls_;
}

std::string FakeServer::last_authorization() const {
  absl::MutexLock lock(&servers_->service.mutex_);
  return servers_->service.authorization_;
}

std::vector<int> FakeServer::update_sizes() const {
  absl::MutexLock lock(&servers_->service.mutex_);
  return servers_->service.update_sizes_;
}

}  // namespace gatherd::client
