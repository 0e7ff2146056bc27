#include "client/bench/load.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/random/distributions.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/bench/histogram.h"

namespace gatherd::client {
namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;

constexpr char kLookup[] = "/gatherd.v1.EmbeddingService/Lookup";
constexpr char kUpdate[] = "/gatherd.v1.EmbeddingService/Update";

Clock::duration ToClock(absl::Duration duration) {
  return std::chrono::duration_cast<Clock::duration>(
      absl::ToChronoNanoseconds(duration));
}

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return absl::ToDoubleSeconds(absl::DurationFromTimeval(usage.ru_utime) +
                               absl::DurationFromTimeval(usage.ru_stime));
}

// Counted by the threads on which calls end; relaxed, since they are read only
// after the last call has ended, which the mutex of Load orders.
class MethodCounters {
 public:
  void AddLatency(Clock::duration latency) {
    latency_ns_.Add(static_cast<uint64_t>(Nanoseconds(latency).count()));
  }
  void AddAnswer(size_t num_keys, size_t num_bytes) {
    num_calls_.fetch_add(1, std::memory_order_relaxed);
    num_keys_.fetch_add(num_keys, std::memory_order_relaxed);
    num_bytes_.fetch_add(num_bytes, std::memory_order_relaxed);
  }

  MethodResult Result() const {
    const auto microseconds = [this](double quantile) {
      return static_cast<double>(latency_ns_.Percentile(quantile)) / 1e3;
    };
    MethodResult result;
    result.num_calls = num_calls_;
    result.num_keys = num_keys_;
    result.num_bytes = num_bytes_;
    result.latency = {
        latency_ns_.Mean() / 1e3, microseconds(0.5),
        microseconds(0.9),        microseconds(0.99),
        microseconds(0.999),      static_cast<double>(latency_ns_.max()) / 1e3};
    return result;
  }

 private:
  Histogram latency_ns_;
  std::atomic<uint64_t> num_calls_{0};
  std::atomic<uint64_t> num_keys_{0};
  std::atomic<uint64_t> num_bytes_{0};
};

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
       double read_fraction)
      : options_(options), requests_(requests), read_fraction_(read_fraction) {}

  absl::Status Connect();
  LoadResult Run();

 private:
  void RunClosedLoop();
  void RunOpenLoop();
  Clock::duration NextGap(std::mt19937_64& random) const;

  // Picks a request for `slot` and sends it.
  void Send(Slot& slot, Clock::time_point due);
  void OnDone(Slot& slot, const grpc::Status& status);
  void Count(const Slot& slot, const grpc::Status& status,
             Clock::time_point now);
  void CountError(const grpc::Status& status);
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

  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;
  std::vector<std::unique_ptr<Slot>> slots_;
  Clock::time_point begin_;  // of what is measured
  Clock::time_point end_;
  double cpu_at_begin_ = 0;
  double cpu_at_end_ = 0;
  uint64_t num_unsent_ = 0;

  MethodCounters lookups_;
  MethodCounters updates_;
  std::atomic<uint64_t> num_short_{0};

  absl::Mutex mutex_;
  std::vector<Slot*> free_slots_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, uint64_t> errors_ ABSL_GUARDED_BY(mutex_);
  std::string first_error_ ABSL_GUARDED_BY(mutex_);
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
    slot.random.seed(i);
    // Callers start at different requests, far apart.
    const size_t lap = static_cast<size_t>(options_.num_callers);
    slot.next_lookup = requests_.lookups.size() * i / lap;
    slot.next_update = requests_.updates.size() * i / lap;
    free_slots_.push_back(&slot);
  }
  return absl::OkStatus();
}

LoadResult Load::Run() {
  begin_ = Clock::now() + ToClock(options_.warmup);
  end_ = begin_ + ToClock(options_.duration);
  if (options_.calls_per_s.has_value()) {
    RunOpenLoop();
  } else {
    RunClosedLoop();
  }
  cpu_at_end_ = CpuSeconds();
  WaitForAllSlots();

  LoadResult result;
  result.seconds = absl::ToDoubleSeconds(options_.duration);
  result.lookups = lookups_.Result();
  result.updates = updates_.Result();
  result.num_short = num_short_;
  result.num_unsent = num_unsent_;
  result.client_cpu_s = cpu_at_end_ - cpu_at_begin_;
  absl::MutexLock lock(&mutex_);
  result.errors = errors_;
  result.first_error = first_error_;
  return result;
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
  std::mt19937_64 random(options_.num_callers);
  bool is_warm = false;
  Clock::time_point due = Clock::now();
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
    ++num_unsent_;
    (read_fraction_ > 0 ? lookups_ : updates_).AddLatency(end_ - due);
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
  MethodCounters& counters = slot.is_lookup ? lookups_ : updates_;
  if (IsMeasured(slot.due)) counters.AddLatency(now - slot.due);
  if (!IsMeasured(now)) return;
  if (!status.ok()) {
    CountError(status);
    return;
  }
  const size_t num_bytes =
      slot.is_lookup ? slot.reply.Length() : slot.request->message.Length();
  counters.AddAnswer(slot.request->num_keys, num_bytes);
  if (slot.reply.Length() < slot.request->min_reply_bytes) {
    num_short_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Load::CountError(const grpc::Status& status) {
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  absl::MutexLock lock(&mutex_);
  ++errors_[absl::StatusCodeToString(code)];
  if (first_error_.empty()) first_error_ = status.error_message();
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

absl::StatusOr<LoadResult> RunLoad(const LoadOptions& options,
                                   const EncodedRequests& requests,
                                   double read_fraction) {
  Load load(options, requests, read_fraction);
  if (absl::Status status = load.Connect(); !status.ok()) return status;
  return load.Run();
}

}  // namespace gatherd::client
