#include <catch2/catch.hpp>
#include <future>
#include <string>

#include "absl/time/clock.h"
#include "tests/server/gated_table.h"
#include "tests/server/specs.h"
#include "tests/server/test_server.h"

namespace gatherd {
namespace {

using Catch::Contains;

std::future<grpc::Status> StartLookup(TestServer& server) {
  return std::async(std::launch::async, [&] {
    grpc::Status status;
    server.Lookup("words", 1, &status);
    return status;
  });
}

std::future<void> StartDrain(TestServer& server, absl::Duration delay,
                             absl::Duration timeout) {
  return std::async(std::launch::async, [&server, delay, timeout] {
    server.application().Drain(delay, timeout);
  });
}

void WaitForHealth(TestServer& server, const std::string& health) {
  while (server.Health("") != health) absl::SleepFor(absl::Milliseconds(5));
}

TEST_CASE("calls are still served during the drain delay") {
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}));
  auto drain = StartDrain(server, absl::Milliseconds(500), absl::Seconds(5));
  WaitForHealth(server, "NOT_SERVING");
  CHECK(server.HttpStatus("/readyz") == 503);
  CHECK(server.HttpStatus("/livez") == 200);
  CHECK(StartLookup(server).get().ok());
  drain.get();
  CHECK(StartLookup(server).get().error_code() ==
        grpc::StatusCode::UNAVAILABLE);
}

TEST_CASE("draining finishes what runs and refuses what comes") {
  Gate gate;
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}),
                    GatedTables(&gate));
  const int before = gate.num_arrived();
  gate.Close();
  auto running = StartLookup(server);
  gate.WaitForArrivals(before + 1);
  auto drain = StartDrain(server, absl::ZeroDuration(), absl::Seconds(30));
  WaitForHealth(server, "NOT_SERVING");
  absl::SleepFor(absl::Milliseconds(20));
  const grpc::Status refused = StartLookup(server).get();
  CHECK(refused.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK_THAT(refused.error_message(), Contains("draining"));
  CHECK(server.Metric("gatherd_rejected_total{reason=\"draining\"}") == 1);
  gate.Open();
  CHECK(running.get().ok());
  drain.get();
}

TEST_CASE("a stream in flight is served until its client ends it") {
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}));
  grpc::ClientContext context;
  auto stream = server.stub().LookupStream(&context);
  v1::LookupRequest request;
  v1::LookupResponse response;
  REQUIRE(stream->Write(request));
  REQUIRE(stream->Read(&response));
  auto drain = StartDrain(server, absl::ZeroDuration(), absl::Seconds(30));
  WaitForHealth(server, "NOT_SERVING");
  absl::SleepFor(absl::Milliseconds(20));
  CHECK(StartLookup(server).get().error_code() ==
        grpc::StatusCode::UNAVAILABLE);
  CHECK(stream->Write(request));
  CHECK(stream->Read(&response));
  stream->WritesDone();
  CHECK(!stream->Read(&response));
  CHECK(stream->Finish().ok());
  drain.get();
}

TEST_CASE("a stream that stays open is ended when the time is over") {
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}));
  grpc::ClientContext context;
  auto stream = server.stub().LookupStream(&context);
  v1::LookupRequest request;
  v1::LookupResponse response;
  REQUIRE(stream->Write(request));
  REQUIRE(stream->Read(&response));
  const absl::Time start = absl::Now();
  server.application().Drain(absl::ZeroDuration(), absl::Milliseconds(300));
  CHECK(absl::Now() - start >= absl::Milliseconds(300));
  CHECK(!stream->Read(&response));
  CHECK(!stream->Finish().ok());
}

TEST_CASE("what runs too long is cancelled") {
  Gate gate;
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}),
                    GatedTables(&gate));
  const int before = gate.num_arrived();
  gate.Close();
  auto running = StartLookup(server);
  gate.WaitForArrivals(before + 1);
  auto drain =
      StartDrain(server, absl::ZeroDuration(), absl::Milliseconds(100));
  CHECK(!running.get().ok());
  gate.Open();
  drain.get();
}

}  // namespace
}  // namespace gatherd
