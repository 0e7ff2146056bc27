// Calls that do not block: LookupAsync and the like.
#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "tests/client/fake_server.h"

namespace gatherd::client {
namespace {

constexpr int kUnavailable = static_cast<int>(absl::StatusCode::kUnavailable);
constexpr int64_t kKeys[] = {7, -3};
constexpr float kValues[] = {1, 2, 3, 4, 5, 6, 7, 8};

std::unique_ptr<Client> Connect(
    const FakeServer& server, absl::Duration backoff = absl::Milliseconds(1)) {
  ClientOptions options;
  options.connection.address = server.address();
  options.backoff.initial = backoff;
  absl::StatusOr<std::unique_ptr<Client>> client = Client::Create(options);
  REQUIRE(client.ok());
  return *std::move(client);
}

// What a callback was called with.
template <typename Reply>
class Outcome {
 public:
  Callback<Reply> Taker() {
    return [this](absl::StatusOr<Reply> reply) {
      absl::MutexLock lock(&mutex_);
      ++num_calls_;
      reply_ = std::move(reply);
    };
  }

  absl::StatusOr<Reply> Wait() {
    const auto is_there = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return num_calls_ > 0;
    };
    absl::MutexLock lock(&mutex_);
    if (!mutex_.AwaitWithTimeout(absl::Condition(&is_there),
                                 absl::Seconds(30))) {
      return absl::UnknownError("no callback");
    }
    return reply_;
  }

  int num_calls() {
    absl::MutexLock lock(&mutex_);
    return num_calls_;
  }

 private:
  absl::Mutex mutex_;
  int num_calls_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::StatusOr<Reply> reply_ ABSL_GUARDED_BY(mutex_) =
      absl::UnknownError("none");
};

void WaitForCalls(const FakeServer& server, int num_calls) {
  while (server.num_calls() < num_calls) absl::SleepFor(absl::Milliseconds(1));
}

}  // namespace

TEST_CASE("Calls that do not block write, read and erase") {
  FakeServer server;
  const auto client = Connect(server);

  Outcome<std::vector<UpdateResult>> updated;
  TableUpdate update{"words", kKeys};
  update.values = AsBytes(kValues);
  client->UpdateAsync({update}, updated.Taker());
  REQUIRE(updated.Wait().ok());
  CHECK((*updated.Wait())[0].num_inserted == 2);

  Outcome<LookupReply> found;
  {
    const std::vector<int64_t> keys = {-3, 99};  // needed no longer than this
    client->LookupAsync({{"words", keys}}, found.Taker());
  }
  REQUIRE(found.Wait().ok());
  CHECK((*found.Wait())[0].Floats(0) == std::vector<float>{5, 6, 7, 8});
  CHECK((*found.Wait())[0].IsMissing(1));

  Outcome<std::vector<EraseResult>> erased;
  client->EraseAsync({{"words", kKeys}}, erased.Taker());
  REQUIRE(erased.Wait().ok());
  CHECK((*erased.Wait())[0].num_erased == 2);
}

TEST_CASE("Many calls are in flight at once, each with its own answer") {
  FakeServer server;
  const auto client = Connect(server);
  TableUpdate update{"words", kKeys};
  update.values = AsBytes(kValues);
  REQUIRE(client->Update({update}).ok());
  constexpr int kNumCalls = 500;
  std::vector<Outcome<LookupReply>> outcomes(kNumCalls);
  for (int i = 0; i < kNumCalls; ++i) {
    const int64_t keys[] = {kKeys[i % 2]};
    client->LookupAsync({{"words", keys}}, outcomes[i].Taker());
  }
  for (int i = 0; i < kNumCalls; ++i) {
    const auto reply = outcomes[i].Wait();
    REQUIRE(reply.ok());
    CHECK((*reply)[0].Floats(0)[0] == (i % 2 == 0 ? 1 : 5));
  }
}

TEST_CASE("Calls that do not block are retried as others are") {
  FakeServer server;
  const auto client = Connect(server);
  server.FailNext(3, kUnavailable, "loading");
  Outcome<LookupReply> found;
  client->LookupAsync({{"words", kKeys}}, found.Taker());
  CHECK(found.Wait().ok());
  CHECK(server.num_calls() == 4);

  server.FailNext(100, kUnavailable, "loading");
  Outcome<LookupReply> unavailable;
  client->LookupAsync({{"words", kKeys}}, unavailable.Taker());
  CHECK(absl::IsUnavailable(unavailable.Wait().status()));
  CHECK(unavailable.Wait().status().message() == "loading");
  CHECK(server.num_calls() == 4 + 5);

  server.FailNext(1, kUnavailable, "loading");
  Outcome<std::vector<UpdateResult>> added;
  client->UpdateAsync({{"words", kKeys, DataType::kFloat32, AsBytes(kValues),
                        UpdateMode::kAdd}},
                      added.Taker());
  CHECK(absl::IsUnavailable(added.Wait().status()));
  CHECK(server.num_calls() == 4 + 5 + 1);
}

TEST_CASE("Many calls are retried at once") {
  FakeServer server;
  const auto client = Connect(server);
  CallOptions patient;
  patient.max_attempts = 1000;
  server.FailNext(2000, kUnavailable, "loading");
  std::vector<Outcome<LookupReply>> outcomes(200);
  for (Outcome<LookupReply>& outcome : outcomes) {
    client->LookupAsync({{"words", kKeys}}, outcome.Taker(), patient);
  }
  for (Outcome<LookupReply>& outcome : outcomes) CHECK(outcome.Wait().ok());
  CHECK(server.num_calls() == 2200);
}

TEST_CASE("The deadline ends calls that do not block") {
  FakeServer server;
  const auto client = Connect(server);
  server.DelayCalls(20'000);
  CallOptions options;
  options.timeout = absl::Milliseconds(100);
  const absl::Time begin = absl::Now();
  Outcome<LookupReply> late;
  client->LookupAsync({{"words", kKeys}}, late.Taker(), options);
  CHECK(absl::IsDeadlineExceeded(late.Wait().status()));
  CHECK(absl::Now() - begin < absl::Seconds(10));
}

TEST_CASE("A cancelled call ends soon, and once") {
  FakeServer server;
  const auto client = Connect(server);
  server.DelayCalls(20'000);
  Outcome<LookupReply> cancelled;
  const absl::Time begin = absl::Now();
  const PendingCall call =
      client->LookupAsync({{"words", kKeys}}, cancelled.Taker());
  WaitForCalls(server, 1);
  call.Cancel();
  call.Cancel();
  CHECK(absl::IsCancelled(cancelled.Wait().status()));
  CHECK(absl::Now() - begin < absl::Seconds(10));
  call.Cancel();
  CHECK(cancelled.num_calls() == 1);
  PendingCall().Cancel();
}

TEST_CASE("A call may be cancelled while it waits for its next attempt") {
  FakeServer server;
  const auto client = Connect(server, absl::Seconds(8));
  server.FailNext(100, kUnavailable, "loading");
  Outcome<LookupReply> cancelled;
  const absl::Time begin = absl::Now();
  const PendingCall call =
      client->LookupAsync({{"words", kKeys}}, cancelled.Taker());
  WaitForCalls(server, 1);
  absl::SleepFor(absl::Milliseconds(100));  // most likely it waits by then
  call.Cancel();
  const absl::Status status = cancelled.Wait().status();
  CHECK((absl::IsCancelled(status) || absl::IsUnavailable(status)));
  CHECK(absl::Now() - begin < absl::Seconds(3));
  CHECK(server.num_calls() == 1);
}

TEST_CASE("Cancelling races with everything and is reported once") {
  FakeServer server;
  const auto client = Connect(server);
  std::vector<Outcome<LookupReply>> outcomes(300);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (i % 3 == 0) server.FailNext(2, kUnavailable, "loading");
    const PendingCall call =
        client->LookupAsync({{"words", kKeys}}, outcomes[i].Taker());
    absl::SleepFor(absl::Microseconds(20 * (i % 50)));
    call.Cancel();
  }
  for (Outcome<LookupReply>& outcome : outcomes) {
    const absl::Status status = outcome.Wait().status();
    INFO(status);
    CHECK((status.ok() || absl::IsCancelled(status) ||
           absl::IsUnavailable(status)));
  }
  absl::SleepFor(absl::Milliseconds(50));
  for (Outcome<LookupReply>& outcome : outcomes) {
    CHECK(outcome.num_calls() == 1);
  }
}

TEST_CASE("The end of a client cancels its calls and outlasts the callbacks") {
  FakeServer server;
  auto client = Connect(server, absl::Seconds(8));
  server.DelayCalls(20'000);
  std::vector<Outcome<LookupReply>> outcomes(20);
  std::vector<PendingCall> calls;
  for (Outcome<LookupReply>& outcome : outcomes) {
    calls.push_back(client->LookupAsync({{"words", kKeys}}, outcome.Taker()));
  }
  std::atomic<bool> is_over{false};
  const auto captured = std::make_shared<int>(1);
  client->LookupAsync({{"words", kKeys}},
                      [&is_over, captured](const auto& reply) {
                        CHECK(absl::IsCancelled(reply.status()));
                        absl::SleepFor(absl::Milliseconds(300));
                        is_over = true;
                      });
  const absl::Time begin = absl::Now();
  client.reset();
  CHECK(is_over);
  CHECK(captured.use_count() == 1);
  CHECK(absl::Now() - begin < absl::Seconds(10));
  for (Outcome<LookupReply>& outcome : outcomes) {
    CHECK(outcome.num_calls() == 1);
    CHECK(absl::IsCancelled(outcome.Wait().status()));
  }
  for (const PendingCall& call : calls) call.Cancel();
}

TEST_CASE("The end of a client ends waits between attempts") {
  FakeServer server;
  auto client = Connect(server, absl::Seconds(8));
  server.FailNext(100, kUnavailable, "loading");
  Outcome<LookupReply> outcome;
  client->LookupAsync({{"words", kKeys}}, outcome.Taker());
  WaitForCalls(server, 1);
  const absl::Time begin = absl::Now();
  client.reset();
  CHECK(absl::Now() - begin < absl::Seconds(3));
  CHECK(outcome.num_calls() == 1);
}

// The channel's end joins the threads that callbacks run on, so no callback may
// leave it to its own thread to end it.
TEST_CASE("A client may end as soon as its last callback was called") {
  FakeServer server;
  for (int i = 0; i < 200; ++i) {
    auto client = Connect(server);
    absl::Notification called;
    client->LookupAsync({{"words", kKeys}},
                        [&called](const auto&) { called.Notify(); });
    called.WaitForNotification();
    client.reset();
  }
}

TEST_CASE("A callback may start the next call") {
  FakeServer server;
  const auto client = Connect(server);
  std::atomic<int> num_left{100};
  absl::Notification done;
  std::function<void()> call = [&] {
    client->LookupAsync({{"words", kKeys}}, [&](const auto& reply) {
      CHECK(reply.ok());
      if (--num_left == 0) {
        done.Notify();
      } else {
        call();
      }
    });
  };
  call();
  CHECK(done.WaitForNotificationWithTimeout(absl::Seconds(30)));
  CHECK(server.num_calls() == 100);
}

TEST_CASE("Threads start and cancel calls of one client") {
  FakeServer server;
  auto client = Connect(server);
  std::atomic<int> num_ended{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&client, &num_ended, t] {
      for (int i = 0; i < 100; ++i) {
        const PendingCall call = client->LookupAsync(
            {{"words", kKeys}}, [&num_ended](const auto&) { ++num_ended; });
        if ((i + t) % 3 == 0) call.Cancel();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  client.reset();
  CHECK(num_ended == 400);
}

}  // namespace gatherd::client
