#include "core/gpu/gpu_dispatcher.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "core/gpu/gpu_table.h"
#include "core/gpu/lookup_engine.h"

namespace gatherd {
namespace {

bool IsOnGpu(const LookupSegment& segment) {
  return dynamic_cast<const GpuTable*>(segment.table) != nullptr;
}

// A job over tables of both kinds, in two halves that run at the same time.
class MixedJob {
 public:
  explicit MixedJob(LookupJob* whole) : whole_(whole) {
    whole_->times.submitted = absl::Now();
    for (LookupJob* half : {&gpu_, &host_}) {
      half->deadline = whole_->deadline;
      half->whole = whole_;
      half->done = [this, half](absl::Status status) {
        End(*half, std::move(status));
      };
    }
    for (const LookupSegment& segment : whole_->segments) {
      (IsOnGpu(segment) ? gpu_ : host_).segments.push_back(segment);
    }
  }

  LookupJob* gpu() { return &gpu_; }
  LookupJob* host() { return &host_; }

 private:
  void End(const LookupJob& half, absl::Status status) {
    LookupJob* whole = nullptr;
    {
      absl::MutexLock lock(&mutex_);
      if (status_.ok()) status_ = std::move(status);
      whole_->times.started =
          std::max(whole_->times.started, half.times.started);
      if (++num_ended_ < 2) return;
      whole = Merge();
      status = std::move(status_);
    }
    delete this;
    FinishJob(whole, std::move(status));
  }

  LookupJob* Merge() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    size_t next_gpu = 0;
    size_t next_host = 0;
    for (LookupSegment& segment : whole_->segments) {
      segment.result = IsOnGpu(segment) ? gpu_.segments[next_gpu++].result
                                        : host_.segments[next_host++].result;
    }
    return whole_;
  }

  LookupJob* const whole_;
  LookupJob gpu_;
  LookupJob host_;
  absl::Mutex mutex_;
  int num_ended_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

class GpuDispatcher final : public Dispatcher {
 public:
  GpuDispatcher(GpuNode& node, const ThreadDispatcherOptions& options)
      : node_(node), threads_(CreateThreadDispatcher(options)) {}

  void SubmitLookup(LookupJob* job) override {
    size_t num_on_gpu = 0;
    for (const LookupSegment& segment : job->segments) {
      if (IsOnGpu(segment)) ++num_on_gpu;
    }
    if (num_on_gpu == 0) return threads_->SubmitLookup(job);
    if (num_on_gpu == job->segments.size()) return node_.lookups().Answer(job);
    // Deletes itself once both halves have ended.
    auto* const mixed = new MixedJob(job);
    LookupJob* const host = mixed->host();
    node_.lookups().Submit(mixed->gpu());
    threads_->SubmitLookup(host);
  }

  void SubmitWrite(WriteJob* job) override { threads_->SubmitWrite(job); }

  uint64_t num_queued() const override {
    return threads_->num_queued() + node_.lookups().num_queued();
  }

 private:
  GpuNode& node_;
  const std::unique_ptr<Dispatcher> threads_;
};

}  // namespace

std::unique_ptr<Dispatcher> CreateGpuDispatcher(
    GpuNode& node, const ThreadDispatcherOptions& options) {
  return std::make_unique<GpuDispatcher>(node, options);
}

}  // namespace gatherd
