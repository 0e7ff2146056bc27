#include "client/bench/load.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/random/distributions.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace gatherd::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kLookup[] = "/gatherd.v1.EmbeddingService/Lookup";
constexpr char kUpdate[] = "/gatherd.v1.EmbeddingService/Update";

Clock::duration ToClock(absl::Duration duration) {
  return std::chrono::duration_cast<Clock::duration>(
      absl::ToChronoNanoseconds(duration));
}

uint64_t ToNanoseconds(Clock::duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return absl::ToDoubleSeconds(absl::DurationFromTimeval(usage.ru_utime) +
                               absl::DurationFromTimeval(usage.ru_stime));
}

// Place for one call in flight, used again by the next.
struct Slot {
  grpc::GenericStub* stub = nullptr;
  std::mt19937_64 random;
  size_t next_lookup = 0;
  size_t next_update = 0;

  std::optional<grpc::ClientContext> context;
  const EncodedRequest* request = nullptr;
  bool is_lookup = true;
  Clock::time_point due;
  grpc::ByteBuffer reply;
};

class Load {
 public:
  Load(const LoadOptions& options, const EncodedRequests& requests,
       double read_fraction, LoadCounters& counters)
      : options_(options),
        requests_(requests),
        read_fraction_(read_fraction),
        counters_(counters) {}

  absl::Status Connect();
  void Run();

 private:
  void RunClosedLoop();
  void RunOpenLoop();
  Clock::duration NextGap(std::mt19937_64& random) const;

  // Picks a request for `slot` and sends it.
  void Send(Slot& slot, Clock::time_point due);
  void OnDone(Slot& slot, const grpc::Status& status);
  void Count(const Slot& slot, const grpc::Status& status,
             Clock::time_point now);
  bool IsMeasured(Clock::time_point time) const {
    return time >= begin_ && time < end_;
  }

  // Waits for a slot that no call uses; null at the end.
  Slot* TakeSlot();
  void GiveBack(Slot& slot);
  void WaitForAllSlots();

  const LoadOptions& options_;
  const EncodedRequests& requests_;
  const double read_fraction_;
  LoadCounters& counters_;

  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
  std::vector<std::unique_ptr<Slot>> slots_;
  Clock::time_point start_;  // of the warm-up
  Clock::time_point begin_;  // of what is measured
  Clock::time_point end_;
  double cpu_at_begin_ = 0;

  absl::Mutex mutex_;
  std::vector<Slot*> free_slots_ ABSL_GUARDED_BY(mutex_);
};

absl::Status Load::Connect() {
  for (int i = 0; i < options_.num_channels; ++i) {
    auto channel = MakeChannel(options_.connection);
    if (!channel.ok()) return channel.status();
    stubs_.push_back(std::make_unique<grpc::GenericStub>(*channel));
  }
  absl::MutexLock lock(&mutex_);
  for (int i = 0; i < options_.num_callers; ++i) {
    Slot& slot = *slots_.emplace_back(std::make_unique<Slot>());
    slot.stub = stubs_[i % stubs_.size()].get();
    slot.random.seed(options_.seed + i);
    // Callers start at different requests, far apart.
    const size_t lap = static_cast<size_t>(options_.num_callers);
    slot.next_lookup = requests_.lookups.size() * i / lap;
    slot.next_update = requests_.updates.size() * i / lap;
    free_slots_.push_back(&slot);
  }
  return absl::OkStatus();
}

void Load::Run() {
  start_ = std::max(Clock::now(), options_.start);
  begin_ = start_ + ToClock(options_.warmup);
  end_ = begin_ + ToClock(options_.duration);
  std::this_thread::sleep_until(start_);
  if (options_.calls_per_s.has_value()) {
    RunOpenLoop();
  } else {
    RunClosedLoop();
  }
  counters_.AddCpu(CpuSeconds() - cpu_at_begin_);
  WaitForAllSlots();
}

void Load::RunClosedLoop() {
  for (int i = 0; i < options_.num_callers; ++i)
    Send(*TakeSlot(), Clock::now());
  std::this_thread::sleep_until(begin_);
  cpu_at_begin_ = CpuSeconds();
  std::this_thread::sleep_until(end_);
}

void Load::RunOpenLoop() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // wake up when due, not up to 50 us later
  std::mt19937_64 random(options_.seed);
  bool is_warm = false;
  Clock::time_point due = start_;
  for (; due < end_; due += NextGap(random)) {
    std::this_thread::sleep_until(due);
    if (!is_warm && due >= begin_) {
      is_warm = true;
      cpu_at_begin_ = CpuSeconds();
    }
    Slot* slot = TakeSlot();
    if (slot == nullptr) break;
    Send(*slot, due);
  }
  for (; due < end_; due += NextGap(random)) {
    if (!IsMeasured(due)) continue;
    counters_.AddUnsent();
    (read_fraction_ > 0 ? counters_.lookups() : counters_.updates())
        .AddLatency(ToNanoseconds(end_ - due));
  }
}

Clock::duration Load::NextGap(std::mt19937_64& random) const {
  const double rate = *options_.calls_per_s;
  const double gap_s = options_.arrivals == Arrivals::kEven
                           ? 1 / rate
                           : absl::Exponential(random, rate);
  return ToClock(absl::Seconds(gap_s));
}

void Load::Send(Slot& slot, Clock::time_point due) {
  slot.is_lookup = !requests_.lookups.empty() &&
                   (requests_.updates.empty() ||
                    absl::Bernoulli(slot.random, read_fraction_));
  const auto& requests = slot.is_lookup ? requests_.lookups : requests_.updates;
  size_t& next = slot.is_lookup ? slot.next_lookup : slot.next_update;
  slot.request = &requests[next];
  next = (next + 1) % requests.size();
  slot.due = due;
  slot.reply.Clear();
  slot.context.emplace();
  slot.context->set_deadline(
      absl::ToChronoTime(absl::Now() + options_.timeout));
  AddCredentials(options_.connection, *slot.context);
  slot.stub->UnaryCall(
      &*slot.context, slot.is_lookup ? kLookup : kUpdate, {},
      &slot.request->message, &slot.reply,
      [this, &slot](const grpc::Status& status) { OnDone(slot, status); });
}

void Load::OnDone(Slot& slot, const grpc::Status& status) {
  const Clock::time_point now = Clock::now();
  Count(slot, status, now);
  if (!options_.calls_per_s.has_value() && now < end_) {
    Send(slot, now);
  } else {
    GiveBack(slot);
  }
}

// Latencies belong to the time in which calls were due, answers to the time in
// which they came.
void Load::Count(const Slot& slot, const grpc::Status& status,
                 Clock::time_point now) {
  MethodCounters& counters =
      slot.is_lookup ? counters_.lookups() : counters_.updates();
  if (IsMeasured(slot.due)) {
    counters.AddLatency(ToNanoseconds(now - slot.due));
  }
  if (!IsMeasured(now)) return;
  if (!status.ok()) {
    counters_.AddError(status.error_code(), status.error_message());
    return;
  }
  const size_t num_bytes =
      slot.is_lookup ? slot.reply.Length() : slot.request->message.Length();
  counters.AddAnswer(slot.request->num_keys, num_bytes);
  if (slot.reply.Length() < slot.request->min_reply_bytes) {
    counters_.AddShort();
  }
}

Slot* Load::TakeSlot() {
  absl::MutexLock lock(&mutex_);
  const auto has_slot = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !free_slots_.empty();
  };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&has_slot),
                               absl::FromChrono(end_ - Clock::now()))) {
    return nullptr;
  }
  Slot* slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void Load::GiveBack(Slot& slot) {
  absl::MutexLock lock(&mutex_);
  free_slots_.push_back(&slot);
}

// Every call has a deadline, so this ends.
void Load::WaitForAllSlots() {
  absl::MutexLock lock(&mutex_);
  const auto have_all = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return free_slots_.size() == slots_.size();
  };
  mutex_.Await(absl::Condition(&have_all));
}

}  // namespace

absl::Status RunLoad(const LoadOptions& options,
                     const EncodedRequests& requests, double read_fraction,
                     LoadCounters& counters) {
  Load load(options, requests, read_fraction, counters);
  if (absl::Status status = load.Connect(); !status.ok()) return status;
  load.Run();
  return absl::OkStatus();
}

}  // namespace gatherd::client
