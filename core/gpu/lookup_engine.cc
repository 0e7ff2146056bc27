#include "core/gpu/lookup_engine.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/data_type.h"
#include "core/gpu/host_pooling.h"

namespace gatherd {
namespace {

// A completer without other work ends a small reply by itself.
constexpr uint64_t kSmallReplyBytes = uint64_t{64} << 10;

bool IsSmall(const LookupJob& job) {
  uint64_t num_bytes = 0;
  for (const LookupSegment& segment : job.segments) {
    num_bytes += segment.batch.num_output_rows() *
                 RowBytes(segment.batch.output_type, segment.table->spec().dim);
    if (num_bytes > kSmallReplyBytes) return false;
  }
  return true;
}

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
          EndBatch(context, status);
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
          "table '", segment.table->spec().name, "': a bag of ",
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
    FinishJobs(std::move(ended), /*is_idle=*/false);
    if (context == nullptr) {
      if (any_ended) continue;
      return;
    }
    absl::Status status = context->Launch();
    if (status.ok()) {
      completers_[static_cast<size_t>(context->home())]->Watch(context);
    } else {
      EndBatch(context, status);
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

void LookupEngine::EndBatch(LookupContext* context,
                            const absl::Status& status) {
  if (status.ok()) {
    context->Collect();
    CountReads(*context);
  }
  EndedJobs ended;
  bool is_idle = false;
  {
    absl::MutexLock lock(&mutex_);
    if (absl::IsInternal(status) && refusal_.ok()) refusal_ = status;
    const auto num_tasks = static_cast<uint32_t>(context->tasks().size());
    for (size_t i = 0; i < num_tasks; ++i) {
      context->tasks()[i].job->launch_requests = i == 0 ? num_tasks : 0;
      auto job = queue_.End(context->tasks()[i], status,
                            status.ok() ? context->part(i) : LookupResult());
      if (job.has_value()) ended.push_back(*std::move(job));
    }
    context->Reset();
    free_[static_cast<size_t>(context->home())].push_back(context);
    is_idle = --num_busy_ == 0 && queue_.empty();
  }
  StartBatches();
  FinishJobs(std::move(ended), is_idle);
}

void LookupEngine::CountReads(const LookupContext& context) {
  for (uint32_t i = 0; i < node_.num_devices(); ++i) {
    const RowReads reads = context.row_reads(DeviceIndex{i});
    reads_[i].local.fetch_add(reads.local, std::memory_order_relaxed);
    reads_[i].remote.fetch_add(reads.remote, std::memory_order_relaxed);
  }
}

void LookupEngine::FinishJobs(EndedJobs ended, bool is_idle) {
  if (is_idle && ended.size() == 1 && IsSmall(*ended[0].job)) {
    FinishJob(ended[0].job, std::move(ended[0].status));
    return;
  }
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
