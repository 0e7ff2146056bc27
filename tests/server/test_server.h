// A whole server in the process of the test, on free ports, with a client.
#ifndef GATHERD_TESTS_SERVER_TEST_SERVER_H_
#define GATHERD_TESTS_SERVER_TEST_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/catalog/catalog.h"
#include "core/table/cpu_table.h"
#include "proto/gatherd/v1/gatherd.grpc.pb.h"
#include "server/application.h"
#include "server/backend.h"
#include "server/config.h"

namespace gatherd {

// Ports 0 of the loopback interface, short times.
Config TestConfig(std::vector<CatalogTableSpec> tables);

// For servers without devices.
inline void IgnoreLoss(const absl::Status& /*loss*/) {}

class TestServer {
 public:
  // Brings the tables up and waits for that, unless told otherwise.
  enum class Startup { kWait, kNone };
  explicit TestServer(const Config& config,
                      TableFactory make_table = &CreateCpuTable,
                      Startup startup = Startup::kWait);
  TestServer(const Config& config, Backend backend,
             Startup startup = Startup::kWait);
  ~TestServer();

  Application& application() { return *application_; }
  v1::EmbeddingService::Stub& stub() { return *stub_; }
  v1::TableService::Stub& tables() { return *tables_; }
  const std::shared_ptr<grpc::Channel>& channel() { return channel_; }

  // Of the HTTP port.
  int HttpStatus(const std::string& path);
  std::string HttpBody(const std::string& path);
  // The value of a series as /metrics writes it; -1 if it is not there.
  double Metric(const std::string& series);
  // Waits until a series has a value: what is counted after the answer left.
  bool MetricBecomes(const std::string& series, double value);

  absl::Status StartTables();  // waits for it

  v1::LookupResponse Lookup(const std::string& table, int64_t key,
                            grpc::Status* status);
  grpc::Status Set(const std::string& table, int64_t key,
                   const std::vector<float>& row);
  // A unary call with any bytes: `method` as in "/gatherd.v1.X/Y".
  grpc::Status SendBytes(const char* method, const std::string& bytes,
                         std::string* reply = nullptr);
  // What grpc.health.v1 says of `service`.
  std::string Health(const std::string& service);

 private:
  std::unique_ptr<Application> application_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::EmbeddingService::Stub> stub_;
  std::unique_ptr<v1::TableService::Stub> tables_;
};

}  // namespace gatherd

#endif  // GATHERD_TESTS_SERVER_TEST_SERVER_H_
