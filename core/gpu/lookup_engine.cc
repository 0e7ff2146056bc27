#include "core/gpu/lookup_engine.h"

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/device_loss.h"
#include "core/gpu/cpu_pause.h"
#include "core/gpu/host_pooling.h"
#include "core/gpu/job_size.h"

namespace gatherd {
namespace {

// A thread that waits for its batch gives its core to others in between after
// kSpin, and does something else after kMaxWait: batches take longer when many
// replies share the PCIe link, or when a write's kernels run.
constexpr absl::Duration kSpin = absl::Microseconds(20);
constexpr absl::Duration kMaxWait = absl::Milliseconds(1);
constexpr int kPausesPerLook = 8;  // at the clock

// After so many jobs that met no other, one that is small goes to the
// completer.
constexpr int kLoneJobs = 16;

}  // namespace

absl::StatusOr<std::unique_ptr<LookupEngine>> LookupEngine::Create(
    GpuNode& node) {
  std::unique_ptr<LookupEngine> engine(new LookupEngine(node));
  absl::Status status = engine->Initialize();
  if (!status.ok()) return status;
  return engine;
}

LookupEngine::LookupEngine(GpuNode& node)
    : node_(node),
      reads_(node.num_devices()),
      queue_(kLookupChunkWork, kLookupChunkSegments),
      free_(node.num_devices()),
      reply_threads_(node.options().num_reply_threads) {}

absl::Status LookupEngine::Initialize() {
  for (uint32_t home = 0; home < node_.num_devices(); ++home) {
    for (int i = 0; i < node_.options().lookup_contexts_per_device; ++i) {
      auto context = LookupContext::Create(node_, DeviceIndex{home});
      if (!context.ok()) return context.status();
      node_.gate().AddReader(&(*context)->gate_reader());
      absl::MutexLock lock(&mutex_);
      free_[home].push_back(context->get());
      contexts_.push_back(*std::move(context));
    }
    completers_.push_back(std::make_unique<Completer>(
        [this](LookupContext* context, const absl::Status& status) {
          EndBatch(context, status, Ender::kCompleter);
        }));
  }
  return absl::OkStatus();
}

LookupEngine::~LookupEngine() {
  {
    absl::MutexLock lock(&mutex_);
    if (refusal_.ok()) {
      refusal_ = absl::UnavailableError("the server is stopping");
    }
  }
  // Ends jobs that no batch under way would.
  StartBatches();
  {
    absl::MutexLock lock(&mutex_);
    const auto all_free = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return num_busy_ == 0;
    };
    mutex_.Await(absl::Condition(&all_free));
  }
  completers_.clear();
}

void LookupEngine::Answer(LookupJob* job) {
  LookupContext* const context = TakeForWhole(job);
  if (context == nullptr) return Submit(job);
  absl::Status status = context->Launch();
  if (status.ok()) {
    AwaitBatch(context);
  } else {
    EndBatch(context, status, Ender::kSubmitter);
  }
}

LookupContext* LookupEngine::TakeForWhole(LookupJob* job) {
  if (!FitsOneBatch(*job, node_.options().max_bag_keys) ||
      !CheckBags(*job).ok()) {
    return nullptr;
  }
  if (!node_.shares_memory() && HasPooling(*job)) return nullptr;
  const absl::Time now = absl::Now();
  if (!CheckWanted(*job, now).ok()) return nullptr;
  const bool is_small = IsSmallReply(*job);
  absl::MutexLock lock(&mutex_);
  if (!refusal_.ok() || !queue_.empty()) return nullptr;
  num_lone_jobs_ = num_busy_ > 0 ? 0 : num_lone_jobs_ + 1;
  if (is_small && num_lone_jobs_ > kLoneJobs) return nullptr;
  LookupContext* const context = TakeFreeContext();
  if (context == nullptr) return nullptr;
  ++num_busy_;
  context->Add(ChunkQueue::StartWhole(job, now));
  return context;
}

void LookupEngine::AwaitBatch(LookupContext* context) {
  const absl::Time start = absl::Now();
  while (!context->IsDone()) {
    const absl::Duration waited = absl::Now() - start;
    if (waited > kMaxWait) return Watch(context);
    if (waited > kSpin) std::this_thread::yield();
    for (int i = 0; i < kPausesPerLook; ++i) CpuPause();
  }
  EndBatch(context, absl::OkStatus(), Ender::kSubmitter);
}

void LookupEngine::Submit(LookupJob* job) {
  if (!node_.shares_memory() && HasPooling(*job)) {
    SubmitHostPooled(job, [this](LookupJob* rows) { Submit(rows); });
    return;
  }
  absl::Status status = CheckBags(*job);
  if (status.ok()) {
    absl::MutexLock lock(&mutex_);
    status = refusal_;
    if (status.ok()) {
      queue_.Push(job);
      NoteQueued();
    }
  }
  if (!status.ok()) {
    job->times.submitted = absl::Now();
    FinishJob(job, std::move(status));
    return;
  }
  StartBatches();
}

absl::Status LookupEngine::CheckBags(const LookupJob& job) const {
  const uint64_t max_keys = node_.options().max_bag_keys;
  for (const LookupSegment& segment : job.segments) {
    const LookupBatch& batch = segment.batch;
    if (batch.pooling == Pooling::kNone || batch.keys.size() <= max_keys) {
      continue;
    }
    for (size_t i = 0; i < batch.offsets.size(); ++i) {
      const size_t end = i + 1 < batch.offsets.size() ? batch.offsets[i + 1]
                                                      : batch.keys.size();
      if (end - batch.offsets[i] <= max_keys) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "table \"", segment.table->spec().name, "\": a bag of ",
          end - batch.offsets[i], " keys; at most ", max_keys, " are allowed"));
    }
  }
  return absl::OkStatus();
}

void LookupEngine::StartBatches() {
  while (true) {
    EndedJobs ended;
    LookupContext* const context = FillContext(&ended);
    const bool any_ended = !ended.empty();
    FinishJobs(std::move(ended));
    if (context == nullptr) {
      if (any_ended) continue;
      return;
    }
    absl::Status status = context->Launch();
    if (status.ok()) {
      Watch(context);
    } else {
      EndBatch(context, status, Ender::kCompleter);
    }
  }
}

LookupContext* LookupEngine::FillContext(EndedJobs* ended) {
  absl::MutexLock lock(&mutex_);
  if (queue_.empty()) return nullptr;
  LookupContext* const context = TakeFreeContext();
  if (context == nullptr) return nullptr;
  const absl::Time now = absl::Now();
  while (context->TakesMore()) {
    ChunkQueue::Next next = queue_.Take(now, refusal_);
    if (next.task.has_value()) context->Add(*next.task);
    if (next.ended.has_value()) ended->push_back(*std::move(next.ended));
    if (queue_.empty()) break;
  }
  NoteQueued();
  if (!context->tasks().empty()) {
    ++num_busy_;
    return context;
  }
  free_[static_cast<size_t>(context->home())].push_back(context);
  return nullptr;
}

LookupContext* LookupEngine::TakeFreeContext() {
  for (size_t i = 0; i < free_.size(); ++i) {
    std::vector<LookupContext*>& free = free_[next_home_];
    next_home_ = next_home_ + 1 == free_.size() ? 0 : next_home_ + 1;
    if (free.empty()) continue;
    LookupContext* const context = free.back();
    free.pop_back();
    return context;
  }
  return nullptr;
}

void LookupEngine::EndBatch(LookupContext* context, const absl::Status& status,
                            Ender ender) {
  if (status.ok()) {
    context->Collect();
    CountReads(*context);
  }
  const absl::Status outcome =
      absl::IsInternal(status) ? MarkDeviceLoss(status) : status;
  EndedJobs ended;
  bool is_idle = false;
  {
    absl::MutexLock lock(&mutex_);
    if (absl::IsInternal(outcome) && refusal_.ok()) refusal_ = outcome;
    const auto num_tasks = static_cast<uint32_t>(context->tasks().size());
    for (size_t i = 0; i < num_tasks; ++i) {
      context->tasks()[i].job->launch_requests = i == 0 ? num_tasks : 0;
      auto job = queue_.End(context->tasks()[i], outcome,
                            outcome.ok() ? context->part(i) : LookupResult());
      if (job.has_value()) ended.push_back(*std::move(job));
    }
    context->Reset();
    free_[static_cast<size_t>(context->home())].push_back(context);
    is_idle = --num_busy_ == 0 && queue_.empty();
  }
  StartBatches();
  const bool is_small = ended.size() == 1 && IsSmallReply(*ended[0].job);
  if (ender == Ender::kSubmitter || (is_idle && is_small)) {
    FinishJob(ended[0].job, std::move(ended[0].status));
  } else {
    FinishJobs(std::move(ended));
  }
}

void LookupEngine::CountReads(const LookupContext& context) {
  for (uint32_t i = 0; i < node_.num_devices(); ++i) {
    const RowReads reads = context.row_reads(DeviceIndex{i});
    reads_[i].local.fetch_add(reads.local, std::memory_order_relaxed);
    reads_[i].remote.fetch_add(reads.remote, std::memory_order_relaxed);
  }
}

void LookupEngine::FinishJobs(EndedJobs ended) {
  for (ChunkQueue::EndedJob& job : ended) {
    reply_threads_.Finish(std::move(job));
  }
}

RowReads LookupEngine::row_reads(DeviceIndex device) const {
  const Reads& reads = reads_[static_cast<size_t>(device)];
  return {reads.local.load(std::memory_order_relaxed),
          reads.remote.load(std::memory_order_relaxed)};
}

}  // namespace gatherd
