#include "core/gpu/reply_threads.h"

#include <utility>

#include "absl/time/clock.h"
#include "core/gpu/cpu_pause.h"

namespace gatherd {
namespace {

constexpr absl::Duration kSpin = absl::Microseconds(200);
constexpr int kPausesPerLook = 64;  // at the clock

}  // namespace

ReplyThreads::ReplyThreads(int num_threads) {
  threads_.reserve(num_threads);
  for (int i = 0; i < num_threads; ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

ReplyThreads::~ReplyThreads() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    num_pending_.store(1, std::memory_order_relaxed);
    has_work_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ReplyThreads::Finish(ChunkQueue::EndedJob ended) {
  absl::MutexLock lock(&mutex_);
  ended_.push_back(std::move(ended));
  num_pending_.store(ended_.size(), std::memory_order_relaxed);
  const bool is_for_spinner = one_spins_ && ended_.size() == 1;
  if (!is_for_spinner && num_sleeping_ > 0) has_work_.Signal();
}

void ReplyThreads::Run() {
  ChunkQueue::EndedJob ended;
  while (Take(&ended)) FinishJob(ended.job, std::move(ended.status));
}

bool ReplyThreads::Take(ChunkQueue::EndedJob* ended) {
  absl::MutexLock lock(&mutex_);
  bool has_spun = false;
  while (ended_.empty()) {
    if (stopping_) return false;
    if (!one_spins_ && !has_spun) {
      one_spins_ = true;
      mutex_.Unlock();
      Spin();
      mutex_.Lock();
      one_spins_ = false;
      has_spun = true;
    } else {
      ++num_sleeping_;
      has_work_.Wait(&mutex_);
      --num_sleeping_;
      has_spun = false;
    }
  }
  *ended = std::move(ended_.front());
  ended_.pop_front();
  num_pending_.store(ended_.size(), std::memory_order_relaxed);
  if ((!one_spins_ || !ended_.empty()) && num_sleeping_ > 0) {
    has_work_.Signal();
  }
  return true;
}

void ReplyThreads::Spin() const {
  const absl::Time end = absl::Now() + kSpin;
  while (absl::Now() < end) {
    for (int i = 0; i < kPausesPerLook; ++i) {
      // Relaxed: a hint; what counts is read under the mutex.
      if (num_pending_.load(std::memory_order_relaxed) > 0) return;
      CpuPause();
    }
  }
}

}  // namespace gatherd
