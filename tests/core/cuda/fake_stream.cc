#include "tests/core/cuda/fake_stream.h"

#include <algorithm>

namespace gatherd {

FakeStream::FakeStream(int device, FakeStreams mode)
    : device_(device), mode_(mode) {
  if (!is_at_once()) thread_ = std::thread([this] { Run(); });
}

FakeStream::~FakeStream() {
  if (is_at_once()) return;
  {
    absl::MutexLock lock(&mutex_);
    ends_ = true;
  }
  thread_.join();
}

void FakeStream::Enqueue(std::function<void()> work) {
  absl::MutexLock lock(&mutex_);
  pending_.push_back(std::move(work));
}

void FakeStream::Run() {
  while (true) {
    std::function<void()> work;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &FakeStream::HasWorkOrEnds));
      if (pending_.empty()) return;
      work = std::move(pending_.front());
    }
    work();
    work = nullptr;  // what it holds goes before anybody is told
    absl::MutexLock lock(&mutex_);
    pending_.pop_front();
  }
}

bool FakeStream::IsIdle() {
  absl::MutexLock lock(&mutex_);
  return pending_.empty();
}

void FakeStream::Synchronize() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(this, &FakeStream::HasNoWork));
}

uint64_t FakeEvent::LastRecord() {
  absl::MutexLock lock(&mutex_);
  return last_record_;
}

void FakeEvent::RecordOn(FakeStream& stream) {
  uint64_t record = 0;
  {
    absl::MutexLock lock(&mutex_);
    record = ++last_record_;
  }
  stream.Do([event = shared_from_this(), record] { event->Pass(record); });
}

void FakeEvent::HoldUp(FakeStream& stream) {
  stream.Do([event = shared_from_this(), record = LastRecord()] {
    event->Await(record);
  });
}

bool FakeEvent::HasPassed() {
  absl::MutexLock lock(&mutex_);
  return last_passed_ >= last_record_;
}

void FakeEvent::Synchronize() { Await(LastRecord()); }

void FakeEvent::Pass(uint64_t record) {
  absl::MutexLock lock(&mutex_);
  last_passed_ = std::max(last_passed_, record);
}

void FakeEvent::Await(uint64_t record) {
  const auto has_passed = [this, record]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return last_passed_ >= record;
  };
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&has_passed));
}

}  // namespace gatherd
