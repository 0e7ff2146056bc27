#include "core/table/epoch.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace gatherd {
namespace {

TEST_CASE("an epoch has passed when nobody is inside") {
  EpochDomain domain;
  CHECK(domain.HasPassed(domain.Advance()));
}

TEST_CASE("an epoch passes when its readers have left or come back") {
  EpochDomain domain;
  EpochGuard guard(domain);
  const uint64_t first = domain.Advance();
  CHECK_FALSE(domain.HasPassed(first));
  {
    // Came after the unlinking: not in the way.
    EpochGuard late(domain);
    CHECK_FALSE(domain.HasPassed(first));
    guard.Reenter();
    CHECK(domain.HasPassed(first));
    const uint64_t second = domain.Advance();
    CHECK_FALSE(domain.HasPassed(second));
    guard.Reenter();
    CHECK_FALSE(domain.HasPassed(second));
    late.Reenter();
    CHECK(domain.HasPassed(second));
  }
}

TEST_CASE("more readers than slots wait for one") {
  EpochDomain domain(2);
  std::atomic<int> num_inside{0};
  std::atomic<int> num_entries{0};
  std::atomic<bool> too_many{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        EpochGuard guard(domain);
        if (num_inside.fetch_add(1) >= 2) too_many = true;
        ++num_entries;
        num_inside.fetch_sub(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(too_many);
  CHECK(num_entries == 1200);
}

// A plain int, so that ThreadSanitizer sees whether the domain orders them.
TEST_CASE("memory is reused only after its readers have left") {
  EpochDomain domain;
  int values[2] = {1, 0};
  std::atomic<int> current{0};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> num_wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      int last = 0;
      EpochGuard guard(domain);
      while (!stop.load(std::memory_order_relaxed)) {
        const int value = values[current.load(std::memory_order_acquire)];
        if (value < last) ++num_wrong;
        last = value;
        guard.Reenter();
        // A thread that is taken off its processor stays inside.
        std::this_thread::yield();
      }
    });
  }
  for (int value = 2; value < 300; ++value) {
    const int next = 1 - current.load(std::memory_order_relaxed);
    values[next] = value;
    current.store(next, std::memory_order_release);
    domain.WaitUntilPassed(domain.Advance());
    values[1 - next] = 0;  // anyone still reading it would go backwards
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(num_wrong == 0);
}

}  // namespace
}  // namespace gatherd
