#include "core/gpu/reply_threads.h"

#include <utility>

namespace gatherd {

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
  }
  for (std::thread& thread : threads_) thread.join();
}

void ReplyThreads::Finish(ChunkQueue::EndedJob ended) {
  absl::MutexLock lock(&mutex_);
  ended_.push_back(std::move(ended));
}

void ReplyThreads::Run() {
  while (true) {
    ChunkQueue::EndedJob ended;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &ReplyThreads::HasWork));
      if (ended_.empty()) return;
      ended = std::move(ended_.front());
      ended_.pop_front();
    }
    FinishJob(ended.job, std::move(ended.status));
  }
}

}  // namespace gatherd
