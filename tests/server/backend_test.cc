#include "server/backend.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "testing/skip.h"
#include "tests/server/counting_memory.h"
#include "tests/server/specs.h"
#include "tests/server/test_server.h"

namespace gatherd {
namespace {

using Catch::Contains;

Config WithDevices(DevicesConfig devices) {
  Config config = TestConfig({});
  config.devices = std::move(devices);
  return config;
}

bool HasGpu() { return access("/dev/nvidiactl", F_OK) == 0; }

TEST_CASE("The CPU backend makes tables", "[backend]") {
  const auto backend =
      SelectBackend(WithDevices({DevicesConfig::Kind::kCpu, {}}));
  REQUIRE(backend.ok());
  CHECK(backend->name == "cpu");
  CHECK(backend->devices.empty());
  CHECK(backend->device_stats().empty());
  CHECK(backend->warning.empty());
  const auto table = backend->make_table(HashedSpec("t", 4, 10).table);
  REQUIRE(table.ok());
  CHECK((*table)->spec().name == "t");
}

TEST_CASE("Without a GPU, auto warns and uses the CPU", "[backend]") {
  if (HasGpu()) GATHERD_SKIP("there is a GPU");
  const auto backend =
      SelectBackend(WithDevices({DevicesConfig::Kind::kAuto, {}}));
  REQUIRE(backend.ok());
  CHECK(backend->name == "cpu");
  CHECK_THAT(backend->warning, Contains("CPU backend: "));
}

TEST_CASE("Without a GPU, a demand for one is refused", "[backend]") {
  if (HasGpu()) GATHERD_SKIP("there is a GPU");
  for (const DevicesConfig& devices :
       {DevicesConfig{DevicesConfig::Kind::kCuda, {}},
        DevicesConfig{DevicesConfig::Kind::kList, {0, 1}}}) {
    const absl::Status status = SelectBackend(WithDevices(devices)).status();
    CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
    CHECK_THAT(std::string(status.message()), Contains("no usable GPU"));
  }
}

// A backend of two devices, as one of GPUs would look.
Backend FakeDevices(ReplyMemory memory) {
  Backend backend = CpuBackend();
  backend.name = "cuda";
  backend.devices = {"device 2: Fake", "device 5: Fake"};
  backend.reply_memory = std::move(memory);
  backend.device_stats = [] {
    return std::vector<DeviceStats>{{2, 30, 70, 4, 1}, {5, 0, 100, 0, 0}};
  };
  return backend;
}

TEST_CASE("A server shows the devices of its backend", "[backend]") {
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}),
                    FakeDevices(HeapReplyMemory()));
  v1::GetServerInfoResponse info;
  grpc::ClientContext context;
  REQUIRE(server.tables().GetServerInfo(&context, {}, &info).ok());
  CHECK(info.backend() == "cuda");
  REQUIRE(info.devices_size() == 2);
  CHECK(info.devices(1) == "device 5: Fake");

  const auto rows_read = [&](const char* labels) {
    return server.Metric(std::string("gatherd_device_rows_read_total{") +
                         labels + "}");
  };
  CHECK(rows_read("device=\"2\",locality=\"local\"") == 4);
  CHECK(rows_read("device=\"2\",locality=\"remote\"") == 1);
  CHECK(rows_read("device=\"5\",locality=\"local\"") == 0);
  CHECK(rows_read("device=\"5\",locality=\"remote\"") == 0);
  const auto bytes = [&](const char* labels) {
    return server.Metric(std::string("gatherd_device_memory_bytes{") + labels +
                         "}");
  };
  CHECK(bytes("device=\"2\",state=\"used\"") == 30);
  CHECK(bytes("device=\"2\",state=\"free\"") == 70);
  CHECK(bytes("device=\"5\",state=\"used\"") == 0);
  CHECK(bytes("device=\"5\",state=\"free\"") == 100);
}

TEST_CASE("Keys and rows lie in the memory of the backend", "[backend]") {
  MemoryCounts counts;
  {
    TestServer server(TestConfig({HashedSpec("words", 2, 10)}),
                      FakeDevices(std::make_shared<CountingMemory>(counts)));
    grpc::Status status;
    server.Lookup("words", 1, &status);
    CHECK(status.ok());
    CHECK(counts.taken == 2);
  }
  CHECK(counts.given_back == 2);
  CHECK(counts.destroyed);
}

// Answers lookups in pairs, the first of which stands for the launch.
class PairingDispatcher final : public Dispatcher {
 public:
  void SubmitLookup(LookupJob* job) override {
    job->launch_requests = num_lookups_++ % 2 == 0 ? 2 : 0;
    threads_->SubmitLookup(job);
  }
  void SubmitWrite(WriteJob* job) override { threads_->SubmitWrite(job); }
  uint64_t num_queued() const override { return threads_->num_queued(); }

 private:
  const std::unique_ptr<Dispatcher> threads_ = CreateThreadDispatcher({});
  std::atomic<int> num_lookups_{0};
};

TEST_CASE("A launch of several requests is counted once", "[backend]") {
  Backend backend = CpuBackend();
  backend.make_dispatcher = [] {
    return std::make_unique<PairingDispatcher>();
  };
  TestServer server(TestConfig({}), std::move(backend));
  v1::LookupResponse response;
  for (int i = 0; i < 4; ++i) {
    grpc::ClientContext context;
    REQUIRE(server.stub().Lookup(&context, {}, &response).ok());
  }
  CHECK(server.Metric("gatherd_batch_requests_count") == 2);
  CHECK(server.Metric("gatherd_batch_requests_sum") == 4);
}

// Records whether the engine was there for the whole life of a dispatcher.
class EngineUser final : public Dispatcher {
 public:
  EngineUser(const bool& engine_gone, bool* outlived)
      : engine_gone_(engine_gone), outlived_(outlived) {}
  ~EngineUser() override { *outlived_ = !engine_gone_; }
  void SubmitLookup(LookupJob* job) override { FinishJob(job, {}); }
  void SubmitWrite(WriteJob* job) override { FinishJob(job, {}); }
  uint64_t num_queued() const override { return 0; }

 private:
  const bool& engine_gone_;
  bool* const outlived_;
};

TEST_CASE("The engine outlives the dispatcher and goes with the server",
          "[backend]") {
  bool engine_gone = false;
  bool outlived = false;
  Backend backend = CpuBackend();
  backend.engine = std::shared_ptr<void>(
      &engine_gone, [](void* gone) { *static_cast<bool*>(gone) = true; });
  backend.make_dispatcher = [&] {
    return std::make_unique<EngineUser>(engine_gone, &outlived);
  };
  { TestServer server(TestConfig({}), std::move(backend)); }
  CHECK(outlived);
  CHECK(engine_gone);
}

}  // namespace
}  // namespace gatherd
