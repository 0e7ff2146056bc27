#include "core/table/epoch.h"

#include <algorithm>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace gatherd {
namespace {

size_t RoundUpToPowerOfTwo(size_t n) {
  size_t power = 1;
  while (power < n) power *= 2;
  return power;
}

// Threads start at different slots and so seldom meet.
size_t ThreadNumber() {
  static std::atomic<size_t> num_threads{0};
  thread_local const size_t number =
      num_threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

EpochDomain::EpochDomain(size_t num_slots)
    : num_slots_(RoundUpToPowerOfTwo(num_slots)),
      slots_(new Slot[num_slots_]) {}

size_t EpochDomain::DefaultSlots() {
  // Threads that are not running can be inside, too.
  return std::clamp<size_t>(4 * std::thread::hardware_concurrency(), 16, 256);
}

EpochDomain::Slot* EpochDomain::Enter() {
  const size_t first = ThreadNumber();
  for (size_t i = 0;; ++i) {
    Slot* slot = &slots_[(first + i) & (num_slots_ - 1)];
    uint64_t expected = kFree;
    // Acquire: a writer that sees this reader's epoch in the slot, but never
    // saw the last reader leave it, is ordered behind both. The epoch that
    // counts is Reenter's; 1 is older than any that a writer waits for.
    if (slot->epoch.load(std::memory_order_relaxed) == kFree &&
        slot->epoch.compare_exchange_strong(expected, 1,
                                            std::memory_order_acquire)) {
      Reenter(slot);
      return slot;
    }
    if (i >= num_slots_) std::this_thread::yield();
  }
}

void EpochDomain::Reenter(Slot* slot) const {
  uint64_t epoch = global_.load(std::memory_order_relaxed);
  while (true) {
    slot->epoch.store(epoch, std::memory_order_seq_cst);
    const uint64_t now = global_.load(std::memory_order_seq_cst);
    if (now == epoch) return;
    epoch = now;
  }
}

uint64_t EpochDomain::Advance() {
  return global_.fetch_add(1, std::memory_order_seq_cst) + 1;
}

bool EpochDomain::HasPassed(uint64_t epoch) const {
  for (size_t i = 0; i < num_slots_; ++i) {
    const uint64_t entered = slots_[i].epoch.load(std::memory_order_seq_cst);
    if (entered != kFree && entered < epoch) return false;
  }
  return true;
}

void EpochDomain::WaitUntilPassed(uint64_t epoch) const {
  constexpr int kSpins = 200;
  constexpr int kYields = 50;
  for (int attempt = 0; !HasPassed(epoch); ++attempt) {
    if (attempt < kSpins) continue;
    if (attempt < kSpins + kYields) {
      std::this_thread::yield();
    } else {
      absl::SleepFor(absl::Microseconds(50));
    }
  }
}

}  // namespace gatherd
