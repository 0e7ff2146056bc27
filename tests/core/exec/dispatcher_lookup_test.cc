#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/exec/dispatcher.h"
#include "tests/core/exec/fake_table.h"
#include "tests/core/exec/lookup_request.h"

namespace gatherd {
namespace {

// Chunks of 8 keys; single keys are inline.
std::unique_ptr<Dispatcher> MakeDispatcher(int num_threads) {
  ThreadDispatcherOptions options;
  options.num_lookup_threads = num_threads;
  options.num_write_threads = 1;
  options.inline_keys = 1;
  options.chunk_keys = 8;
  return CreateThreadDispatcher(options);
}

// A request whose end can be waited for.
struct WaitableRequest : LookupRequest {
  WaitableRequest() {
    job.done = [this](absl::Status end) {
      status = std::move(end);
      done.Notify();
    };
  }

  absl::Status status = absl::UnknownError("not done");
  absl::Notification done;
};

// Makes the first lookup of `table` wait; others pass.
struct Gate {
  explicit Gate(FakeTable& table) {
    table.on_lookup = [this](const LookupBatch&) {
      if (!entered.HasBeenNotified()) {
        entered.Notify();
        open.WaitForNotification();
      }
      return absl::OkStatus();
    };
  }

  absl::Notification entered;
  absl::Notification open;
};

// A job in the queue of a dispatcher whose only thread another job holds.
class QueuedJob {
 public:
  QueuedJob() {
    first_.AddKeys(table_, 8);
    dispatcher_->SubmitLookup(&first_.job);
    gate_.entered.WaitForNotification();
    request.AddKeys(table_, 8);
  }

  void Submit() {
    dispatcher_->SubmitLookup(&request.job);
    CHECK(dispatcher_->num_queued() == 1);
  }

  // Lets the thread come to the job, which is to end without a lookup.
  void CheckIsNotBegun() {
    gate_.open.Notify();
    request.done.WaitForNotification();
    CHECK(request.job.times.finished >= request.job.times.submitted);
    CHECK(table_.num_lookups() == 1);
    CHECK(dispatcher_->num_queued() == 0);
    first_.done.WaitForNotification();
    CHECK(first_.status.ok());
  }

  WaitableRequest request;

 private:
  FakeTable table_;
  Gate gate_{table_};
  WaitableRequest first_;
  // Last, so that its threads end before what they use.
  std::unique_ptr<Dispatcher> dispatcher_ = MakeDispatcher(1);
};

TEST_CASE("Small lookups are answered on the calling thread") {
  FakeTable table;
  std::thread::id thread;
  table.on_lookup = [&thread](const LookupBatch&) {
    thread = std::this_thread::get_id();
    return absl::OkStatus();
  };
  ThreadDispatcherOptions options;
  options.inline_keys = 16;
  auto dispatcher = CreateThreadDispatcher(options);

  WaitableRequest small;
  small.AddKeys(table, 10);
  small.AddBags(table, {1, 2, 3});
  dispatcher->SubmitLookup(&small.job);
  REQUIRE(small.done.HasBeenNotified());
  CHECK(small.status.ok());
  CHECK(thread == std::this_thread::get_id());
  CHECK(small.job.times.submitted <= small.job.times.started);
  CHECK(small.job.times.started <= small.job.times.finished);
  small.CheckAnswer();

  WaitableRequest large;
  large.AddKeys(table, 17);
  dispatcher->SubmitLookup(&large.job);
  large.done.WaitForNotification();
  CHECK(large.status.ok());
  CHECK(thread != std::this_thread::get_id());
  CHECK(large.job.times.submitted <= large.job.times.started);
  CHECK(large.job.times.started <= large.job.times.finished);
  large.CheckAnswer();
}

TEST_CASE("Where threads are no help, larger lookups are answered inline") {
  CHECK(DefaultInlineKeys(1) == 4096);
  CHECK(DefaultInlineKeys(2) == 4096);
  CHECK(DefaultInlineKeys(3) == 256);
  CHECK(DefaultInlineKeys(64) == 256);
}

TEST_CASE("A lookup of nothing is answered") {
  FakeTable table;
  auto dispatcher = MakeDispatcher(1);
  WaitableRequest no_segments;
  dispatcher->SubmitLookup(&no_segments.job);
  no_segments.done.WaitForNotification();
  CHECK(no_segments.status.ok());

  WaitableRequest no_keys;
  no_keys.AddKeys(table, 0);
  dispatcher->SubmitLookup(&no_keys.job);
  no_keys.done.WaitForNotification();
  CHECK(no_keys.status.ok());
}

TEST_CASE("Several threads work on one job") {
  FakeTable table;
  absl::BlockingCounter both(2);  // goes on when two chunks run at once
  std::atomic<int> num_entered{0};
  table.on_lookup = [&](const LookupBatch&) {
    if (num_entered.fetch_add(1) < 2) {
      both.DecrementCount();
      while (num_entered.load() < 2) std::this_thread::yield();
    }
    return absl::OkStatus();
  };
  auto dispatcher = MakeDispatcher(2);
  WaitableRequest request;
  request.AddKeys(table, 100);
  dispatcher->SubmitLookup(&request.job);
  both.Wait();
  request.done.WaitForNotification();
  CHECK(request.status.ok());
  CHECK(table.num_lookups() == 13);
  request.CheckAnswer();
}

TEST_CASE("A small job does not wait for the whole of a large one") {
  FakeTable table;
  Gate gate(table);
  auto dispatcher = MakeDispatcher(1);
  WaitableRequest large;
  large.AddKeys(table, 8 * 1000);
  dispatcher->SubmitLookup(&large.job);
  gate.entered.WaitForNotification();

  uint64_t lookups_when_done = 0;
  WaitableRequest small;
  small.AddKeys(table, 8);
  auto done = std::move(small.job.done);
  small.job.done = [&](absl::Status status) {
    lookups_when_done = table.num_lookups();
    done(std::move(status));
  };
  dispatcher->SubmitLookup(&small.job);
  gate.open.Notify();
  small.done.WaitForNotification();
  large.done.WaitForNotification();
  CHECK(lookups_when_done <= 3);  // its own and two of the large job
  CHECK(table.num_lookups() == 1001);
  large.CheckAnswer();
  small.CheckAnswer();
}

TEST_CASE("A job cancelled in the queue is not begun") {
  QueuedJob queued;
  queued.Submit();
  queued.request.job.cancelled = true;
  queued.CheckIsNotBegun();
  CHECK(absl::IsCancelled(queued.request.status));
}

TEST_CASE("A job cancelled while running ends after its running chunks") {
  FakeTable table;
  absl::BlockingCounter both_entered(2);
  absl::Notification open_first;
  absl::Notification open_second;
  table.on_lookup = [&](const LookupBatch& batch) {
    both_entered.DecrementCount();
    (batch.keys[0] == 0 ? open_first : open_second).WaitForNotification();
    return absl::OkStatus();
  };
  auto dispatcher = MakeDispatcher(2);
  WaitableRequest request;
  request.AddKeys(table, 8 * 1000);
  dispatcher->SubmitLookup(&request.job);
  both_entered.Wait();
  request.job.cancelled = true;
  open_second.Notify();
  // Other work shows that the second thread has left the job.
  FakeTable other_table;
  WaitableRequest other;
  other.AddKeys(other_table, 8);
  dispatcher->SubmitLookup(&other.job);
  other.done.WaitForNotification();
  CHECK_FALSE(request.done.HasBeenNotified());
  open_first.Notify();
  request.done.WaitForNotification();
  CHECK(absl::IsCancelled(request.status));
  CHECK(table.num_lookups() == 2);
}

TEST_CASE("A job whose deadline passes in the queue is not begun") {
  QueuedJob queued;
  const absl::Time deadline = absl::Now() + absl::Milliseconds(1);
  queued.request.job.deadline = deadline;
  queued.Submit();
  while (absl::Now() <= deadline) absl::SleepFor(absl::Milliseconds(1));
  queued.CheckIsNotBegun();
  CHECK(absl::IsDeadlineExceeded(queued.request.status));
}

TEST_CASE("A small job that comes late or cancelled is not begun") {
  FakeTable table;
  auto dispatcher = MakeDispatcher(1);
  WaitableRequest late;
  late.AddKeys(table, 1);
  late.job.deadline = absl::Now() - absl::Milliseconds(1);
  dispatcher->SubmitLookup(&late.job);
  late.done.WaitForNotification();
  CHECK(absl::IsDeadlineExceeded(late.status));
  WaitableRequest cancelled;
  cancelled.AddKeys(table, 1);
  cancelled.job.cancelled = true;
  dispatcher->SubmitLookup(&cancelled.job);
  cancelled.done.WaitForNotification();
  CHECK(absl::IsCancelled(cancelled.status));
  CHECK(table.num_lookups() == 0);
}

TEST_CASE("The first error of a table ends the job") {
  for (const size_t num_keys : {1, 80}) {
    FakeTable table;
    table.on_lookup = [](const LookupBatch&) {
      return absl::UnavailableError("store is down");
    };
    auto dispatcher = MakeDispatcher(2);
    WaitableRequest request;
    request.AddKeys(table, num_keys);
    dispatcher->SubmitLookup(&request.job);
    request.done.WaitForNotification();
    CHECK(absl::IsUnavailable(request.status));
    CHECK(request.status.message() == "store is down");
  }
}

TEST_CASE("A job may be destroyed by its callback") {
  FakeTable table;
  auto dispatcher = MakeDispatcher(2);
  for (const size_t num_keys : {1, 8, 800}) {
    absl::Notification done;
    auto* request = new LookupRequest;
    request->AddKeys(table, num_keys);
    request->job.done = [request, &done](const absl::Status& status) {
      absl::Notification* notification = &done;
      const bool ok = status.ok();
      delete request;
      if (ok) notification->Notify();
    };
    dispatcher->SubmitLookup(&request->job);
    done.WaitForNotification();
  }
}

TEST_CASE("Jobs that wait when the dispatcher goes end with UNAVAILABLE") {
  FakeTable table;
  Gate gate(table);
  auto dispatcher = MakeDispatcher(1);
  WaitableRequest running;  // has chunks to go
  running.AddKeys(table, 80);
  dispatcher->SubmitLookup(&running.job);
  gate.entered.WaitForNotification();

  // The callback of one submits another, to a dispatcher that is stopping.
  WaitableRequest successor;
  successor.AddKeys(table, 8);
  WaitableRequest queued;
  queued.AddKeys(table, 8);
  queued.job.done = [&, going = dispatcher.get()](absl::Status status) {
    queued.status = std::move(status);
    going->SubmitLookup(&successor.job);
    queued.done.Notify();
  };
  dispatcher->SubmitLookup(&queued.job);

  // Opens the gate once the dispatcher is stopping, which it is when it refuses
  // at once.
  std::vector<std::unique_ptr<WaitableRequest>> probes;
  std::thread opener([&, going = dispatcher.get()] {
    do {
      std::this_thread::yield();
      probes.push_back(std::make_unique<WaitableRequest>());
      probes.back()->AddKeys(table, 8);
      going->SubmitLookup(&probes.back()->job);
    } while (!probes.back()->done.HasBeenNotified());
    gate.open.Notify();
  });
  dispatcher.reset();
  opener.join();
  REQUIRE(running.done.HasBeenNotified());
  REQUIRE(queued.done.HasBeenNotified());
  REQUIRE(successor.done.HasBeenNotified());
  CHECK(absl::IsUnavailable(running.status));
  CHECK(absl::IsUnavailable(queued.status));
  CHECK(absl::IsUnavailable(successor.status));
  CHECK(table.num_lookups() == 1);
}

// Counts ends; destroys itself with the last use.
struct StressRequest : LookupRequest {
  std::atomic<int> num_ends{0};
  absl::Status status;
};

TEST_CASE("Every job ends once, with its own answer, under load") {
  FakeTable table(2);
  auto dispatcher = MakeDispatcher(3);
  constexpr int kThreads = 3;
  constexpr int kRequests = 300;
  std::vector<std::vector<std::unique_ptr<StressRequest>>> all(kThreads);
  absl::BlockingCounter ends(kThreads * kRequests);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (int i = 0; i < kRequests; ++i) {
        auto& request = all[t].emplace_back(std::make_unique<StressRequest>());
        StressRequest* r = request.get();
        for (size_t n = random() % 4; n > 0; --n) {
          r->AddRandom(table, 200, random);
        }
        r->job.done = [r, &ends](absl::Status status) {
          r->num_ends.fetch_add(1);
          r->status = std::move(status);
          ends.DecrementCount();
        };
        dispatcher->SubmitLookup(&r->job);
        if (random() % 8 == 0) r->job.cancelled = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ends.Wait();
  CHECK(dispatcher->num_queued() == 0);
  dispatcher.reset();
  for (const auto& requests : all) {
    for (const auto& request : requests) {
      CHECK(request->num_ends == 1);
      if (request->status.ok()) {
        request->CheckAnswer();
      } else {
        CHECK(absl::IsCancelled(request->status));
      }
    }
  }
}

}  // namespace
}  // namespace gatherd
