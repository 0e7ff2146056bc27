// Under --config=tsan each of these would be reported if TSan did not know the
// meaning of Abseil's locks; elsewhere they are ordinary uses of them.
#include <catch2/catch.hpp>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace gatherd {
namespace {

constexpr int kNumThreads = 4;
constexpr int kNumRounds = 200;

void RunOnThreads(const std::function<void()>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kNumThreads; ++i) threads.emplace_back(body);
  for (std::thread& thread : threads) thread.join();
}

struct Counter {
  absl::Mutex mutex;
  absl::CondVar changed;
  int value ABSL_GUARDED_BY(mutex) = 0;
};

TEST_CASE("A mutex orders writers and readers") {
  Counter counter;
  RunOnThreads([&] {
    for (int i = 0; i < kNumRounds; ++i) {
      {
        const absl::MutexLock lock(&counter.mutex);
        ++counter.value;
      }
      const absl::ReaderMutexLock lock(&counter.mutex);
      static_cast<void>(counter.value);
    }
  });
  const absl::MutexLock lock(&counter.mutex);
  CHECK(counter.value == kNumThreads * kNumRounds);
}

TEST_CASE("Conditions are evaluated under the mutex") {
  Counter counter;
  int num_done = 0;
  const auto is_even = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return counter.value % 2 == 0;
  };
  const auto is_odd = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return counter.value % 2 == 1;
  };
  std::thread odd([&] {
    for (int i = 0; i < kNumRounds; ++i) {
      counter.mutex.LockWhen(absl::Condition(&is_odd));
      ++counter.value;
      counter.mutex.Unlock();
    }
  });
  for (int i = 0; i < kNumRounds; ++i) {
    const absl::MutexLock lock(&counter.mutex);
    counter.mutex.Await(absl::Condition(&is_even));
    ++counter.value;
    ++num_done;
  }
  odd.join();
  const absl::MutexLock lock(&counter.mutex);
  CHECK(counter.value == 2 * num_done);
}

TEST_CASE("Condition variables hand the mutex on") {
  Counter counter;
  std::thread producer([&] {
    for (int i = 0; i < kNumRounds; ++i) {
      const absl::MutexLock lock(&counter.mutex);
      ++counter.value;
      counter.changed.Signal();
    }
  });
  counter.mutex.Lock();
  while (counter.value < kNumRounds) {
    counter.changed.WaitWithTimeout(&counter.mutex, absl::Seconds(1));
  }
  CHECK(counter.value == kNumRounds);
  counter.mutex.Unlock();
  producer.join();
}

TEST_CASE("Notifications and counters publish what came before") {
  int value = 0;
  absl::Notification notification;
  absl::BlockingCounter counter(1);
  std::thread first([&] {
    value = 1;
    notification.Notify();
  });
  std::thread second([&] {
    notification.WaitForNotification();
    ++value;
    counter.DecrementCount();
  });
  counter.Wait();
  CHECK(value == 2);
  first.join();
  second.join();
}

}  // namespace
}  // namespace gatherd
