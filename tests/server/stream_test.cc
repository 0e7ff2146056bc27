#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/support/sync_stream.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "tests/server/gated_table.h"
#include "tests/server/specs.h"
#include "tests/server/test_server.h"

namespace gatherd {
namespace {

using Catch::Contains;

v1::LookupRequest LookupOf(const char* table, int num_keys) {
  v1::LookupRequest request;
  request.add_lookups()->set_table(table);
  for (int i = 0; i < num_keys; ++i) request.mutable_lookups(0)->add_keys(i);
  return request;
}

TEST_CASE("a lookup stream answers in the order of requests") {
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}));
  grpc::ClientContext context;
  auto stream = server.stub().LookupStream(&context);
  for (int i = 0; i < 20; ++i) REQUIRE(stream->Write(LookupOf("words", i)));
  stream->WritesDone();
  for (uint32_t i = 0; i < 20; ++i) {
    v1::LookupResponse response;
    REQUIRE(stream->Read(&response));
    CHECK(response.results(0).num_rows() == i);
  }
  v1::LookupResponse response;
  CHECK(!stream->Read(&response));
  CHECK(stream->Finish().ok());
}

TEST_CASE("an update stream is seen by the lookups after its replies") {
  TestServer server(TestConfig({HashedSpec("words", 1, 10)}));
  grpc::ClientContext context;
  auto stream = server.stub().UpdateStream(&context);
  for (int i = 0; i < 5; ++i) {
    v1::UpdateRequest request;
    request.add_updates()->set_table("words");
    request.mutable_updates(0)->add_keys(i);
    request.mutable_updates(0)->set_values(std::string(4, '\x01'));
    REQUIRE(stream->Write(request));
    v1::UpdateResponse response;
    REQUIRE(stream->Read(&response));
    CHECK(response.results(0).num_inserted() == 1);
    grpc::Status status;
    CHECK(server.Lookup("words", i, &status).results(0).num_missing() == 0);
  }
  stream->WritesDone();
  CHECK(stream->Finish().ok());
}

TEST_CASE("a failing request ends the stream with its status") {
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}));
  grpc::ClientContext context;
  auto stream = server.stub().LookupStream(&context);
  REQUIRE(stream->Write(LookupOf("words", 1)));
  REQUIRE(stream->Write(LookupOf("wrods", 1)));
  v1::LookupResponse response;
  CHECK(stream->Read(&response));
  CHECK(!stream->Read(&response));
  const grpc::Status status = stream->Finish();
  CHECK(status.error_code() == grpc::StatusCode::NOT_FOUND);
  CHECK_THAT(status.error_message(), Contains("wrods"));
  CHECK(server.Metric("grpc_server_handled_total{grpc_type=\"bidi_stream\","
                      "grpc_service=\"gatherd.v1.EmbeddingService\","
                      "grpc_method=\"LookupStream\",grpc_code=\"NotFound\"}") ==
        1);
}

TEST_CASE("each message of a stream has the default deadline") {
  Gate gate;
  Config config = TestConfig({HashedSpec("words", 2, 10)});
  config.server.default_deadline = absl::Milliseconds(100);
  TestServer server(config, GatedTables(&gate));
  grpc::ClientContext context;
  auto stream = server.stub().LookupStream(&context);
  v1::LookupResponse response;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(stream->Write(LookupOf("words", 1)));
    REQUIRE(stream->Read(&response));
    absl::SleepFor(absl::Milliseconds(60));
  }
  gate.Close();
  REQUIRE(stream->Write(LookupOf("words", 1)));
  absl::SleepFor(absl::Milliseconds(200));
  gate.Open();
  CHECK(!stream->Read(&response));
  CHECK(stream->Finish().error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_CASE("a stream may be cancelled while a request runs") {
  Gate gate;
  TestServer server(TestConfig({HashedSpec("words", 2, 10)}),
                    GatedTables(&gate));
  const int before = gate.num_arrived();
  gate.Close();
  grpc::ClientContext context;
  auto stream = server.stub().LookupStream(&context);
  REQUIRE(stream->Write(LookupOf("words", 1)));
  gate.WaitForArrivals(before + 1);
  context.TryCancel();
  v1::LookupResponse response;
  CHECK(!stream->Read(&response));
  CHECK(stream->Finish().error_code() == grpc::StatusCode::CANCELLED);
  gate.Open();
}

constexpr char kInflightBytes[] = "gatherd_inflight_bytes";
constexpr char kLateStreams[] =
    "grpc_server_handled_total{grpc_type=\"bidi_stream\",grpc_service="
    "\"gatherd.v1.EmbeddingService\",grpc_method=\"LookupStream\",grpc_code="
    "\"DeadlineExceeded\"}";

TEST_CASE("a stream whose client takes no reply is ended and gives its bytes") {
  Config config = TestConfig({HashedSpec("words", 1024, 10)});
  config.server.reply_timeout = absl::Milliseconds(500);
  TestServer server(config);
  // A reply of 20 MiB: no window takes it in.
  const v1::LookupRequest request = LookupOf("words", 5000);
  grpc::ClientContext context;
  auto stream = server.stub().LookupStream(&context);
  REQUIRE(stream->Write(request));
  REQUIRE(server.MetricBecomes(kLateStreams, 1));
  CHECK(server.MetricBecomes(kInflightBytes, 0));
  CHECK(server.Metric("gatherd_rejected_total{reason=\"deadline\"}") == 1);
  v1::LookupResponse response;
  CHECK(!stream->Read(&response));
  const grpc::Status status = stream->Finish();
  CHECK(status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
  CHECK_THAT(status.error_message(), Contains("server.reply_timeout"));
}

constexpr char kUnarySuccesses[] =
    "grpc_server_handled_total{grpc_type=\"unary\",grpc_service="
    "\"gatherd.v1.EmbeddingService\",grpc_method=\"Lookup\",grpc_code="
    "\"OK\"}";

// A unary lookup whose client decides when it takes the reply: to the server it
// is none but a stream that ends after one message.
class UnreadLookup {
 public:
  UnreadLookup(TestServer& server, int num_keys,
               absl::Time deadline = absl::InfiniteFuture()) {
    if (deadline != absl::InfiniteFuture()) {
      context_.set_deadline(absl::ToChronoTime(deadline));
    }
    call_.reset(Factory::Create(
        server.channel().get(),
        grpc::internal::RpcMethod("/gatherd.v1.EmbeddingService/Lookup",
                                  grpc::internal::RpcMethod::BIDI_STREAMING),
        &context_));
    call_->WriteLast(LookupOf("words", num_keys), grpc::WriteOptions());
  }

  bool Read(v1::LookupResponse* response) { return call_->Read(response); }
  grpc::Status Finish() { return call_->Finish(); }

 private:
  using Factory = grpc::internal::ClientReaderWriterFactory<v1::LookupRequest,
                                                            v1::LookupResponse>;

  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientReaderWriter<v1::LookupRequest, v1::LookupResponse>>
      call_;
};

TEST_CASE("a unary reply that no client takes is ended and gives its bytes") {
  Config config = TestConfig({HashedSpec("words", 1024, 10)});
  config.server.reply_timeout = absl::Milliseconds(500);
  TestServer server(config);
  // None, and one that is no protection.
  const absl::Time deadline =
      GENERATE(absl::InfiniteFuture(), absl::Now() + absl::Hours(24));
  UnreadLookup lookup(server, 5000, deadline);
  REQUIRE(server.MetricBecomes(kUnarySuccesses, 1));
  CHECK(server.Metric(kInflightBytes) > 20e6);
  REQUIRE(server.MetricBecomes(kInflightBytes, 0));
  CHECK(server.Metric("gatherd_rejected_total{reason=\"deadline\"}") == 1);
  CHECK_THAT(server.HttpBody("/status.json"), Contains("server.reply_timeout"));
  v1::LookupResponse response;
  CHECK(!lookup.Read(&response));
  const grpc::Status status = lookup.Finish();
  CHECK(status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
  CHECK_THAT(status.error_message(), Contains("server.reply_timeout"));
}

TEST_CASE("a unary reply that is not taken is ended by an early deadline") {
  Config config = TestConfig({HashedSpec("words", 1024, 10)});
  TestServer server(config);
  UnreadLookup lookup(server, 5000, absl::Now() + absl::Seconds(2));
  REQUIRE(server.MetricBecomes(kUnarySuccesses, 1));
  REQUIRE(server.MetricBecomes(kInflightBytes, 0));
  CHECK(lookup.Finish().error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_CASE("a unary reply that is taken late but in time is not ended") {
  Config config = TestConfig({HashedSpec("words", 256, 10)});
  config.server.reply_timeout = absl::Seconds(30);
  TestServer server(config);
  // 3 MiB: less than what a client takes, more than any window.
  UnreadLookup lookup(server, 3000);
  REQUIRE(server.MetricBecomes(kUnarySuccesses, 1));
  // Some looks at what waits.
  absl::SleepFor(absl::Milliseconds(800));
  v1::LookupResponse response;
  CHECK(lookup.Read(&response));
  CHECK(lookup.Finish().ok());
  CHECK(server.MetricBecomes(kInflightBytes, 0));
  CHECK(server.Metric("gatherd_rejected_total{reason=\"deadline\"}") == 0);
}

TEST_CASE("a stream that waits for its client's next request is not ended") {
  Config config = TestConfig({HashedSpec("words", 2, 10)});
  config.server.reply_timeout = absl::Milliseconds(50);
  TestServer server(config);
  grpc::ClientContext context;
  auto stream = server.stub().LookupStream(&context);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(stream->Write(LookupOf("words", 1)));
    v1::LookupResponse response;
    REQUIRE(stream->Read(&response));
    absl::SleepFor(absl::Milliseconds(800));
  }
  stream->WritesDone();
  CHECK(stream->Finish().ok());
}

}  // namespace
}  // namespace gatherd
