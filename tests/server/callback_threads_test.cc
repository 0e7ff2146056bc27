#include "server/callback_threads.h"

#include <grpcpp/create_channel.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "server/ticker.h"

namespace gatherd {
namespace {

// How long an event for gRPC's callback threads waits for one of them. The
// channel keeps the threads alive: the first has them started.
absl::Duration TimeOfEvent(grpc::GenericStub& stub) {
  const grpc::Slice nothing;
  const grpc::ByteBuffer request(&nothing, 1);
  grpc::ByteBuffer reply;
  grpc::ClientContext context;
  absl::Notification done;
  const absl::Time start = absl::Now();
  absl::Time end;
  stub.UnaryCall(&context, "/none/None", grpc::StubOptions(), &request, &reply,
                 [&](const grpc::Status&) {
                   end = absl::Now();
                   done.Notify();
                 });
  done.WaitForNotification();
  return end - start;
}

TEST_CASE("an event after a quiet second does not wait for threads that rest") {
  std::vector<absl::Duration> times;
  for (int round = 0; round < 5; ++round) {
    CallbackThreads threads;
    const Ticker ticker(absl::Milliseconds(250),
                        [&](absl::Time) { threads.KeepAwake(); });
    grpc::GenericStub stub(grpc::CreateChannel("none", nullptr));
    TimeOfEvent(stub);
    absl::SleepFor(absl::Milliseconds(1030));
    times.push_back(TimeOfEvent(stub));
  }
  std::sort(times.begin(), times.end());
  CHECK(times[2] < absl::Milliseconds(30));
}

}  // namespace
}  // namespace gatherd
