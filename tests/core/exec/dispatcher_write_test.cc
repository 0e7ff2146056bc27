#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/exec/dispatcher.h"
#include "tests/core/exec/fake_table.h"
#include "tests/core/exec/lookup_request.h"

namespace gatherd {
namespace {

std::unique_ptr<Dispatcher> MakeDispatcher() {
  ThreadDispatcherOptions options;
  options.num_lookup_threads = 1;
  options.num_write_threads = 1;
  return CreateThreadDispatcher(options);
}

struct WaitableWrite {
  WaitableWrite() {
    job.run = [this] {
      ++num_runs;
      return absl::OkStatus();
    };
    job.done = [this](absl::Status end) {
      status = std::move(end);
      done.Notify();
    };
  }

  WriteJob job;
  std::atomic<int> num_runs{0};
  absl::Status status = absl::UnknownError("not done");
  absl::Notification done;
};

// A write that holds its thread until the gate opens.
struct BlockingWrite : WaitableWrite {
  BlockingWrite() {
    job.run = [this] {
      entered.Notify();
      open.WaitForNotification();
      return absl::OkStatus();
    };
  }

  absl::Notification entered;
  absl::Notification open;
};

TEST_CASE("A write runs on another thread") {
  auto dispatcher = MakeDispatcher();
  WaitableWrite write;
  std::thread::id thread;
  write.job.run = [&thread] {
    thread = std::this_thread::get_id();
    return absl::ResourceExhaustedError("full");
  };
  dispatcher->SubmitWrite(&write.job);
  write.done.WaitForNotification();
  CHECK(absl::IsResourceExhausted(write.status));
  CHECK(thread != std::this_thread::get_id());
  CHECK(write.job.times.submitted <= write.job.times.started);
  CHECK(write.job.times.started <= write.job.times.finished);
}

TEST_CASE("Writes cancelled or late in the queue do not run") {
  auto dispatcher = MakeDispatcher();
  BlockingWrite first;
  dispatcher->SubmitWrite(&first.job);
  first.entered.WaitForNotification();

  WaitableWrite cancelled;
  dispatcher->SubmitWrite(&cancelled.job);
  cancelled.job.cancelled = true;
  WaitableWrite late;
  late.job.deadline = absl::Now() - absl::Milliseconds(1);
  dispatcher->SubmitWrite(&late.job);
  WaitableWrite wanted;
  dispatcher->SubmitWrite(&wanted.job);
  CHECK(dispatcher->num_queued() == 3);

  first.open.Notify();
  wanted.done.WaitForNotification();
  CHECK(first.status.ok());
  CHECK(absl::IsCancelled(cancelled.status));
  CHECK(cancelled.num_runs == 0);
  CHECK(absl::IsDeadlineExceeded(late.status));
  CHECK(late.num_runs == 0);
  CHECK(wanted.status.ok());
  CHECK(wanted.num_runs == 1);
  CHECK(dispatcher->num_queued() == 0);
}

TEST_CASE("Lookups go on while a write blocks") {
  auto dispatcher = MakeDispatcher();
  BlockingWrite write;
  dispatcher->SubmitWrite(&write.job);
  write.entered.WaitForNotification();

  FakeTable table;
  LookupRequest request;
  request.AddKeys(table, 20'000);
  absl::Notification done;
  request.job.done = [&done](const absl::Status&) { done.Notify(); };
  dispatcher->SubmitLookup(&request.job);
  done.WaitForNotification();
  request.CheckAnswer();
  CHECK_FALSE(write.done.HasBeenNotified());
  write.open.Notify();
  write.done.WaitForNotification();
}

TEST_CASE("A write may be destroyed by its callback") {
  auto dispatcher = MakeDispatcher();
  absl::Notification done;
  auto* write = new WriteJob;
  write->run = [] { return absl::OkStatus(); };
  write->done = [write, &done](const absl::Status&) {
    absl::Notification* notification = &done;
    delete write;
    notification->Notify();
  };
  dispatcher->SubmitWrite(write);
  done.WaitForNotification();
}

TEST_CASE("Writes that wait when the dispatcher goes end with UNAVAILABLE") {
  auto dispatcher = MakeDispatcher();
  BlockingWrite running;
  dispatcher->SubmitWrite(&running.job);
  running.entered.WaitForNotification();

  // Submits until the dispatcher is stopping, which it is when it refuses at
  // once, and lets the first write end.
  std::vector<std::unique_ptr<WaitableWrite>> queued;
  std::thread opener([&, going = dispatcher.get()] {
    do {
      std::this_thread::yield();
      queued.push_back(std::make_unique<WaitableWrite>());
      going->SubmitWrite(&queued.back()->job);
    } while (!queued.back()->done.HasBeenNotified());
    running.open.Notify();
  });
  dispatcher.reset();
  opener.join();
  CHECK(running.done.HasBeenNotified());
  CHECK(running.status.ok());
  for (const auto& write : queued) {
    REQUIRE(write->done.HasBeenNotified());
    CHECK(absl::IsUnavailable(write->status));
    CHECK(write->num_runs == 0);
  }
}

}  // namespace
}  // namespace gatherd
