#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>

#include "cli/version.h"
#include "tests/server/gated_table.h"
#include "tests/server/specs.h"
#include "tests/server/test_server.h"

namespace gatherd {
namespace {

using Catch::Contains;

std::chrono::system_clock::time_point In(absl::Duration duration) {
  return absl::ToChronoTime(absl::Now() + duration);
}

// More than are answered on gRPC's own thread, on any number of cores.
void AddHandedOverKeys(v1::TableLookup* lookup) {
  for (int i = 0; i < 5000; ++i) lookup->add_keys(i);
}

TEST_CASE("rows are set, looked up and erased over the wire") {
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}));
  REQUIRE(server.Set("words", -3, {1, 2}).ok());
  grpc::Status status;
  auto reply = server.Lookup("words", -3, &status);
  REQUIRE(status.ok());
  CHECK(reply.results(0).values() == std::string("\0\0\x80?\0\0\0@", 8));
  CHECK(reply.results(0).revision() == 1);

  v1::EraseRequest erase;
  erase.add_erases()->set_table("words");
  erase.mutable_erases(0)->add_keys(-3);
  v1::EraseResponse erased;
  grpc::ClientContext context;
  REQUIRE(server.stub().Erase(&context, erase, &erased).ok());
  CHECK(erased.results(0).num_erased() == 1);
  reply = server.Lookup("words", -3, &status);
  CHECK(reply.results(0).num_missing() == 1);
}

TEST_CASE("bytes that do not parse are an invalid argument in every method") {
  TestServer server(TestConfig({}));
  for (const char* method : {"/gatherd.v1.EmbeddingService/Lookup",
                             "/gatherd.v1.EmbeddingService/Update",
                             "/gatherd.v1.EmbeddingService/Erase",
                             "/gatherd.v1.TableService/ListTables",
                             "/gatherd.v1.TableService/GetServerInfo"}) {
    INFO(method);
    const grpc::Status status = server.SendBytes(method, "\xff\xff");
    CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
    CHECK_THAT(status.error_message(), Contains("Request"));
  }
}

TEST_CASE("a request over the message limit gets gRPC's own words") {
  Config config = TestConfig({HashedSpec("words", 2, 10)});
  config.server.max_message_bytes = 1000;
  TestServer server(config);
  const grpc::Status status = server.SendBytes(
      "/gatherd.v1.EmbeddingService/Lookup", std::string(2000, '\x08'));
  CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK_THAT(status.error_message(), Contains("2000") && Contains("1000"));
}

TEST_CASE("more than may be in flight is refused at once") {
  Config config = TestConfig({HashedSpec("words", 2, 10)});
  config.server.max_inflight_bytes = 100;
  TestServer server(config);
  grpc::Status status;
  server.Lookup("words", 1, &status);
  CHECK(status.ok());
  v1::LookupRequest request;
  request.add_lookups()->set_table("words");
  for (int i = 0; i < 20; ++i) request.mutable_lookups(0)->add_keys(i);
  v1::LookupResponse response;
  grpc::ClientContext context;
  status = server.stub().Lookup(&context, request, &response);
  CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK_THAT(status.error_message(), Contains("\"words\"") && Contains("100") &&
                                         Contains("max_inflight_bytes"));
  CHECK(server.Metric("gatherd_rejected_total{reason=\"overload\"}") == 1);
  CHECK(server.MetricBecomes("gatherd_inflight_bytes", 0));
  CHECK(server.MetricBecomes("gatherd_inflight_requests", 0));
}

TEST_CASE("an update that does not fit says so and changes nothing") {
  TestServer server(TestConfig({HashedSpec("words", 2, 1)}));
  REQUIRE(server.Set("words", 1, {1, 2}).ok());
  const grpc::Status status = server.Set("words", 2, {1, 2});
  CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK_THAT(status.error_message(), Contains("words"));
  CHECK(server.Metric("gatherd_table_rows{table=\"words\"}") == 1);
}

TEST_CASE("a deadline that passes is answered and counted") {
  Gate gate;
  Config config = TestConfig({HashedSpec("words", 2, 10)});
  SECTION("the server's own") {
    config.server.default_deadline = absl::Milliseconds(50);
  }
  TestServer server(config, GatedTables(&gate));
  gate.Close();
  auto call = std::async(std::launch::async, [&] {
    v1::LookupRequest request;
    request.add_lookups()->set_table("words");
    AddHandedOverKeys(request.mutable_lookups(0));
    v1::LookupResponse response;
    grpc::ClientContext context;
    if (config.server.default_deadline > absl::Seconds(1)) {
      context.set_deadline(In(absl::Milliseconds(50)));
    }
    return server.stub().Lookup(&context, request, &response);
  });
  absl::SleepFor(absl::Milliseconds(200));
  gate.Open();
  CHECK(call.get().error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
  CHECK(server.MetricBecomes("gatherd_rejected_total{reason=\"deadline\"}", 1));
}

TEST_CASE("a cancelled call is dropped") {
  Gate gate;
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}),
                    GatedTables(&gate));
  gate.Close();
  const int before = gate.num_arrived();
  grpc::ClientContext context;
  auto call = std::async(std::launch::async, [&] {
    v1::LookupRequest request;
    request.add_lookups()->set_table("words");
    AddHandedOverKeys(request.mutable_lookups(0));
    v1::LookupResponse response;
    return server.stub().Lookup(&context, request, &response);
  });
  gate.WaitForArrivals(before + 1);
  context.TryCancel();
  CHECK(call.get().error_code() == grpc::StatusCode::CANCELLED);
  absl::SleepFor(absl::Milliseconds(50));  // for the server to hear of it
  gate.Open();
  CHECK(server.MetricBecomes(
      "grpc_server_handled_total{grpc_type=\"unary\",grpc_service="
      "\"gatherd.v1.EmbeddingService\",grpc_method=\"Lookup\",grpc_code="
      "\"Canceled\"}",
      1));
}

TEST_CASE("a fault of the server has an identifier") {
  TestServer server(
      TestConfig({HashedSpec("words", 2, 10)}),
      [](const TableSpec& spec) -> absl::StatusOr<std::unique_ptr<Table>> {
        class Faulty final : public Table {
         public:
          explicit Faulty(std::unique_ptr<Table> table)
              : table_(std::move(table)) {}
          const TableSpec& spec() const override { return table_->spec(); }
          absl::StatusOr<LookupResult> Lookup(
              const LookupBatch& batch, const LookupOutput& output) override {
            return table_->Lookup(batch, output);
          }
          absl::StatusOr<std::unique_ptr<PreparedUpdate>> PrepareUpdate(
              absl::Span<const UpdateBatch>) override {
            throw std::bad_alloc();
          }
          absl::StatusOr<EraseResult> Erase(
              absl::Span<const int64_t>) override {
            return absl::InternalError("secret");
          }
          absl::StatusOr<uint64_t> Scan(const ScanVisitor& visit) override {
            return table_->Scan(visit);
          }
          TableStats Stats() const override { return table_->Stats(); }

         private:
          std::unique_ptr<Table> table_;
        };
        return std::make_unique<Faulty>(*CreateCpuTable(spec));
      });
  const grpc::Status status = server.Set("words", 1, {1, 2});
  CHECK(status.error_code() == grpc::StatusCode::INTERNAL);
  CHECK_THAT(status.error_message(),
             Catch::Matches(".*[0-9a-f]{16}-[0-9a-f]+"));
}

TEST_CASE("tables and server describe themselves") {
  CatalogTableSpec cached = HashedSpec("cached", 4, 100);
  cached.table.tiers.insert(cached.table.tiers.begin(),
                            {TierKind::kGpu, 10, Spread::kSharded});
  cached.table.data_type = DataType::kInt8;
  TestServer server(TestConfig({cached, DenseSpec("rows", 3, 10)}));
  v1::ListTablesResponse tables;
  grpc::ClientContext list_context;
  REQUIRE(server.tables().ListTables(&list_context, {}, &tables).ok());
  REQUIRE(tables.tables_size() == 2);
  CHECK(tables.tables(0).name() == "cached");
  CHECK(tables.tables(0).data_type() == v1::DATA_TYPE_INT8);
  CHECK(tables.tables(0).key_space() == "hashed");
  REQUIRE(tables.tables(0).tiers_size() == 2);
  CHECK(tables.tables(0).tiers(0).kind() == "gpu");
  CHECK(tables.tables(0).tiers(0).capacity_rows() == 10);
  CHECK(tables.tables(0).tiers(1).kind() == "host");
  CHECK(tables.tables(1).num_rows() == 10);
  CHECK(tables.tables(1).dim() == 3);

  v1::GetServerInfoResponse info;
  grpc::ClientContext info_context;
  REQUIRE(server.tables().GetServerInfo(&info_context, {}, &info).ok());
  CHECK(info.version() == kGatherdVersion);
  CHECK(info.backend() == "cpu");
  CHECK(info.devices_size() == 0);
  CHECK(info.max_keys_per_request() == 1'000'000);
  CHECK(info.max_message_bytes() == 64 << 20);
}

TEST_CASE("ports are open while tables load, and say so") {
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}), &CreateCpuTable,
                    TestServer::Startup::kNone);
  grpc::Status status;
  server.Lookup("words", 1, &status);
  CHECK(status.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK_THAT(status.error_message(), Contains("words") && Contains("loading"));
  server.Lookup("wrods", 1, &status);
  CHECK(status.error_code() == grpc::StatusCode::NOT_FOUND);
  CHECK(server.Health("") == "NOT_SERVING");
  CHECK(server.HttpStatus("/livez") == 200);
  CHECK(server.HttpStatus("/readyz") == 503);
  CHECK_THAT(server.HttpBody("/readyz"), Contains("loading"));

  REQUIRE(server.StartTables().ok());
  server.Lookup("words", 1, &status);
  CHECK(status.ok());
  CHECK(server.Health("") == "SERVING");
  CHECK(server.Health("gatherd.v1.EmbeddingService") == "SERVING");
  CHECK(server.HttpStatus("/readyz") == 200);
}

TEST_CASE("deadlines in centuries to come are no past ones") {
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}));
  v1::LookupRequest request;
  request.add_lookups()->set_table("words");
  // std::chrono's nanoseconds end after 292 years.
  for (const int64_t years : {1, 291, 293, 1000, 10'000}) {
    grpc::ClientContext context;
    gpr_timespec deadline = gpr_now(GPR_CLOCK_REALTIME);
    deadline.tv_sec += years * 31'556'952;
    context.set_deadline(deadline);
    v1::LookupResponse response;
    INFO(years);
    CHECK(server.stub().Lookup(&context, request, &response).ok());
  }
}

TEST_CASE("an address in use is named") {
  TestServer first(TestConfig({}));
  Config config = TestConfig({});
  SECTION("for gRPC") { config.server.address = first.application().address(); }
  SECTION("for HTTP") {
    config.server.metrics_address = first.application().metrics_address();
  }
  SECTION("on every interface") {
    const std::string address = first.application().address();
    config.server.address = "0.0.0.0" + address.substr(address.rfind(':'));
  }
  const auto second = Application::Create(config, CpuBackend(), IgnoreLoss);
  REQUIRE(!second.ok());
  CHECK_THAT(second.status().ToString(), Contains("cannot listen on"));
}

TEST_CASE("a Unix socket serves, and is not taken from its owner") {
  Config config = TestConfig({HashedSpec("words", 2, 10)});
  // Not in TEST_TMPDIR: a socket's path has 107 characters at most.
  char folder[] = "/tmp/gatherd_test_XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string path = std::string(folder) + "/socket";
  config.server.address = "unix:" + path;
  TestServer server(config);
  CHECK(server.application().address() == "unix:" + path);
  grpc::Status status;
  server.Lookup("words", 1, &status);
  CHECK(status.ok());
  CHECK(!Application::Create(config, CpuBackend(), IgnoreLoss).ok());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gatherd
