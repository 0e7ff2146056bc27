// Answers lookup jobs on the GPUs of a node.
//
// A job that fits one batch, finds a free context and nobody waiting, is
// answered by the thread that brings it: it launches, waits for the end and
// ends the job. Handing that over and back costs more than such a batch takes.
// Small jobs that come one at a time are left to the completer all the same:
// that costs a core, which is idle then, and their callers have the answer 30
// µs sooner.
//
// Other jobs are cut into chunks that stand in one queue, from which a context
// that becomes free takes as many as fit into one launch. A thread a device
// (the completer) watches these batches, starts the next when one has ended,
// and ends jobs; large replies are left to other threads, since handing them to
// the transport may take as long as sending them.
//
// No thread waits for a device while it holds the mutex. Thread-safe.
#ifndef GATHERD_CORE_GPU_LOOKUP_ENGINE_H_
#define GATHERD_CORE_GPU_LOOKUP_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "core/base/device_index.h"
#include "core/exec/chunk_queue.h"
#include "core/exec/job.h"
#include "core/gpu/completer.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/lookup_context.h"
#include "core/gpu/reply_threads.h"

namespace gatherd {

class LookupEngine {
 public:
  // Takes the contexts' memory and starts the threads.
  static absl::StatusOr<std::unique_ptr<LookupEngine>> Create(GpuNode& node);
  // Waits for batches under way; other jobs end with UNAVAILABLE. Not while a
  // call of Answer or Submit has not returned.
  ~LookupEngine();
  LookupEngine(const LookupEngine&) = delete;
  LookupEngine& operator=(const LookupEngine&) = delete;

  // As Dispatcher::SubmitLookup, for jobs with at least one segment, all of
  // GpuTables of this node. INTERNAL, a device loss, once a batch has failed:
  // nobody knows what its kernels still do, so no other one is launched.
  void Submit(LookupJob* job);
  // The same by the calling thread, if that is quick.
  void Answer(LookupJob* job);

  // Jobs of which no chunk has begun.
  uint64_t num_queued() const {
    return num_queued_.load(std::memory_order_relaxed);
  }

  // Rows that kernels of `device` have read since the start, self-tests apart.
  RowReads row_reads(DeviceIndex device) const;

 private:
  // Few enough at a time to need no memory.
  using EndedJobs = absl::InlinedVector<ChunkQueue::EndedJob, 16>;

  explicit LookupEngine(GpuNode& node);
  absl::Status Initialize();

  // A free context, filled with the job alone; nullptr if the job has to wait
  // or is not for this way.
  LookupContext* TakeForWhole(LookupJob* job);
  // Until the batch is over, and ends it. Leaves it to the completer after a
  // while.
  void AwaitBatch(LookupContext* context);
  void Watch(LookupContext* context) {
    completers_[static_cast<size_t>(context->home())]->Watch(context);
  }

  absl::Status CheckBags(const LookupJob& job) const;
  // Launches what is queued while contexts are free.
  void StartBatches();
  // A free context with chunks to launch; nullptr if there is none.
  LookupContext* FillContext(EndedJobs* ended);
  LookupContext* TakeFreeContext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Who ends a batch: the thread of its only job, or one that others wait for.
  enum class Ender : uint8_t { kSubmitter, kCompleter };
  // The batch of `context` is over. Its jobs' ends are noted, the context is
  // free for the next.
  void EndBatch(LookupContext* context, const absl::Status& status,
                Ender ender);
  void CountReads(const LookupContext& context);
  void FinishJobs(EndedJobs ended);
  void NoteQueued() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    num_queued_.store(queue_.num_queued(), std::memory_order_relaxed);
  }

  GpuNode& node_;
  std::atomic<uint64_t> num_queued_{0};

  struct alignas(64) Reads {
    std::atomic<uint64_t> local{0};
    std::atomic<uint64_t> remote{0};
  };
  std::vector<Reads> reads_;  // one a device

  absl::Mutex mutex_;
  ChunkQueue queue_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::vector<LookupContext*>> free_ ABSL_GUARDED_BY(mutex_);
  size_t next_home_ ABSL_GUARDED_BY(mutex_) = 0;
  int num_busy_ ABSL_GUARDED_BY(mutex_) = 0;  // contexts
  // Jobs in a row that came while none was busy.
  int num_lone_jobs_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);

  std::vector<std::unique_ptr<LookupContext>> contexts_;
  ReplyThreads reply_threads_;
  std::vector<std::unique_ptr<Completer>> completers_;  // one a device
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_LOOKUP_ENGINE_H_
