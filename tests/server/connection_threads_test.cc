#include "server/connection_threads.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/synchronization/barrier.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace gatherd {
namespace {

// Polled: nothing tells when a thread has ended.
bool ComesTrue(const std::function<bool()>& condition) {
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

ConnectionThreads::Options AtMost(size_t max_threads) {
  ConnectionThreads::Options options;
  options.max_threads = max_threads;
  options.max_waiting = 100;
  return options;
}

TEST_CASE("a task runs while all others are blocked") {
  ConnectionThreads threads(AtMost(21));
  absl::Notification release;
  for (int i = 0; i < 20; ++i) {
    threads.Enqueue([&] { release.WaitForNotification(); });
  }
  absl::Notification ran;
  threads.Enqueue([&] { ran.Notify(); });
  CHECK(ran.WaitForNotificationWithTimeout(absl::Seconds(20)));
  release.Notify();
  threads.Shutdown();
}

TEST_CASE("connection threads keep to their bound") {
  ConnectionThreads threads(AtMost(3));
  absl::Notification release;
  std::atomic<int> num_started = 0;
  for (int i = 0; i < 10; ++i) {
    threads.Enqueue([&] {
      ++num_started;
      release.WaitForNotification();
    });
  }
  CHECK(ComesTrue([&] { return num_started == 3; }));
  CHECK(threads.num_threads() == 3u);
  release.Notify();
  threads.Shutdown();
  CHECK(num_started == 10);
}

TEST_CASE("a caller waits behind many tasks") {
  ConnectionThreads::Options options = AtMost(1);
  options.max_waiting = 1;
  ConnectionThreads threads(std::move(options));
  absl::Notification begun;
  absl::Notification release;
  threads.Enqueue([&] {
    begun.Notify();
    release.WaitForNotification();
  });
  begun.WaitForNotification();
  threads.Enqueue([] {});
  absl::Notification entered;
  std::thread caller([&] {
    threads.Enqueue([] {});
    entered.Notify();
  });
  CHECK_FALSE(entered.WaitForNotificationWithTimeout(absl::Milliseconds(50)));
  release.Notify();
  caller.join();
}

TEST_CASE("an idle thread is used again") {
  ConnectionThreads threads(AtMost(10));
  for (int i = 0; i < 50; ++i) {
    absl::Notification ran;
    threads.Enqueue([&] { ran.Notify(); });
    ran.WaitForNotification();
    REQUIRE(ComesTrue([&] { return threads.num_idle() == 1; }));
  }
  CHECK(threads.num_threads() == 1u);
}

TEST_CASE("idle threads end but for a few") {
  ConnectionThreads::Options options = AtMost(10);
  options.kept_threads = 2;
  options.idle_time = absl::Milliseconds(1);
  ConnectionThreads threads(std::move(options));
  auto* all_run = new absl::Barrier(10);
  for (int i = 0; i < 10; ++i) {
    threads.Enqueue([all_run] {
      if (all_run->Block()) delete all_run;
    });
  }
  CHECK(ComesTrue([&] { return threads.num_threads() == 2; }));
  absl::Notification ran;
  threads.Enqueue([&] { ran.Notify(); });
  CHECK(ran.WaitForNotificationWithTimeout(absl::Seconds(20)));
}

TEST_CASE("a task waits where no thread can be had") {
  ConnectionThreads::Options options = AtMost(10);
  std::atomic<bool> fails = true;
  options.start_thread = [&](std::function<void()> run) {
    if (fails) throw std::system_error(EAGAIN, std::system_category());
    return std::thread(std::move(run));
  };
  ConnectionThreads threads(std::move(options));
  std::atomic<int> num_run = 0;
  threads.Enqueue([&] { ++num_run; });
  CHECK(threads.num_threads() == 0u);
  fails = false;
  threads.Enqueue([&] { ++num_run; });
  CHECK(ComesTrue([&] { return num_run == 2; }));
}

TEST_CASE("shutdown runs what no thread took") {
  ConnectionThreads::Options options = AtMost(10);
  options.start_thread = [](const std::function<void()>&) -> std::thread {
    throw std::system_error(EAGAIN, std::system_category());
  };
  ConnectionThreads threads(std::move(options));
  int num_run = 0;
  threads.Enqueue([&] { ++num_run; });
  threads.Shutdown();
  CHECK(num_run == 1);
}

}  // namespace
}  // namespace gatherd
