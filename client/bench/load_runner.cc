#include "client/bench/load_runner.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/bench/find_tables.h"
#include "client/bench/worker_process.h"

namespace gatherd::client {
namespace {

using Clock = std::chrono::steady_clock;

// Until all processes have their order and start together.
constexpr std::chrono::milliseconds kStartDelay{50};

// Callers of different processes draw from seeds that lie further apart.
constexpr uint64_t kSeedsPerProcess = 1'000'000;

class OwnProcess : public LoadRunner {
 public:
  explicit OwnProcess(LoadOptions load) : load_(std::move(load)) {}

  absl::Status Prepare(const Workload& workload) override {
    read_fraction_ = workload.read_fraction;
    requests_ = Encode(workload);
    return absl::OkStatus();
  }

  absl::StatusOr<LoadResult> Run(std::optional<double> calls_per_s) override {
    load_.calls_per_s = calls_per_s;
    const auto counters = std::make_unique<LoadCounters>();
    if (absl::Status status = RunInto(*counters); !status.ok()) return status;
    return counters->Result(absl::ToDoubleSeconds(load_.duration));
  }

  LoadOptions& load() { return load_; }

  absl::Status RunInto(LoadCounters& counters) const {
    return RunLoad(load_, requests_, read_fraction_, counters);
  }

 private:
  LoadOptions load_;
  EncodedRequests requests_;
  double read_fraction_ = 1;
};

// In one of several processes.
class Worker {
 public:
  Worker(const BenchOptions& options, int index, LoadCounters& counters)
      : options_(options),
        index_(index),
        own_(ShareOf(options.load, index, options.num_processes)),
        counters_(counters) {}

  absl::Status Do(const WorkerOrder& order) {
    return order.kind == WorkerOrder::kPrepare ? Prepare(order) : Run(order);
  }

 private:
  absl::Status Prepare(const WorkerOrder& order) {
    const auto client = Client::Create(options_.client);
    if (!client.ok()) return client.status();
    auto tables = FindTables(**client, options_.tables);
    if (!tables.ok()) return tables.status();
    Workload workload = options_.workload;
    workload.tables = *std::move(tables);
    workload.rows = order.rows;
    workload.seed += kSeedsPerProcess * static_cast<uint64_t>(index_);
    return own_.Prepare(workload);
  }

  absl::Status Run(const WorkerOrder& order) {
    LoadOptions& load = own_.load();
    load.calls_per_s.reset();
    if (order.is_open) load.calls_per_s = order.calls_per_s;
    load.start = Clock::time_point(std::chrono::nanoseconds(order.start_ns));
    return own_.RunInto(counters_);
  }

  const BenchOptions options_;
  const int index_;
  OwnProcess own_;
  LoadCounters& counters_;
};

class SeveralProcesses : public LoadRunner {
 public:
  explicit SeveralProcesses(const LoadOptions& load) : load_(load) {}

  absl::Status Fork(const BenchOptions& options) {
    for (int i = 0; i < options.num_processes; ++i) {
      auto counters = SharedCounters::Map();
      if (!counters.ok()) return counters.status();
      auto process = WorkerProcess::Fork(
          [worker = std::make_shared<Worker>(options, i, ***counters)](
              const WorkerOrder& order) { return worker->Do(order); });
      if (!process.ok()) return process.status();
      counters_.push_back(*std::move(counters));
      processes_.push_back(*std::move(process));
    }
    return absl::OkStatus();
  }

  absl::Status Prepare(const Workload& workload) override {
    WorkerOrder order;
    order.kind = WorkerOrder::kPrepare;
    order.rows = workload.rows;
    return Order(std::vector<WorkerOrder>(processes_.size(), order));
  }

  absl::StatusOr<LoadResult> Run(std::optional<double> calls_per_s) override {
    for (const auto& counters : counters_) counters->Reset();
    if (absl::Status status = Order(RunOrders(calls_per_s)); !status.ok()) {
      return status;
    }
    const auto sum = std::make_unique<LoadCounters>();
    for (const auto& counters : counters_) sum->AddAll(**counters);
    return sum->Result(absl::ToDoubleSeconds(load_.duration));
  }

 private:
  std::vector<WorkerOrder> RunOrders(std::optional<double> calls_per_s) const {
    WorkerOrder order;
    order.kind = WorkerOrder::kRun;
    auto start = Clock::now() + kStartDelay;
    std::vector<WorkerOrder> orders;
    for (size_t i = 0; i < processes_.size(); ++i) {
      if (calls_per_s.has_value()) {
        order.is_open = true;
        order.calls_per_s =
            *calls_per_s / static_cast<double>(processes_.size());
      }
      order.start_ns =
          std::chrono::nanoseconds(start.time_since_epoch()).count();
      orders.push_back(order);
      // Evenly spaced calls stay so when all processes' are taken together.
      if (calls_per_s.has_value() && load_.arrivals == Arrivals::kEven) {
        start += std::chrono::duration_cast<Clock::duration>(
            std::chrono::duration<double>(1 / *calls_per_s));
      }
    }
    return orders;
  }

  // Gives each process its order and waits for all of them.
  absl::Status Order(const std::vector<WorkerOrder>& orders) {
    for (size_t i = 0; i < orders.size(); ++i) {
      if (absl::Status status = processes_[i]->Send(orders[i]); !status.ok()) {
        return status;
      }
    }
    absl::Status status;
    for (const auto& process : processes_) status.Update(process->Receive());
    return status;
  }

  const LoadOptions load_;
  std::vector<std::unique_ptr<SharedCounters>> counters_;
  std::vector<std::unique_ptr<WorkerProcess>> processes_;
};

}  // namespace

LoadOptions ShareOf(const LoadOptions& load, int index, int num) {
  const auto part = [&](int total) {
    return total / num + (index < total % num ? 1 : 0);
  };
  LoadOptions share = load;
  share.num_callers = part(load.num_callers);
  share.num_channels = std::max(1, part(load.num_channels));
  if (load.calls_per_s.has_value()) {
    share.calls_per_s = *load.calls_per_s / num;
  }
  share.seed += kSeedsPerProcess * static_cast<uint64_t>(index);
  return share;
}

absl::StatusOr<std::unique_ptr<LoadRunner>> MakeLoadRunner(
    const BenchOptions& options) {
  if (options.num_processes == 1) {
    return std::make_unique<OwnProcess>(options.load);
  }
  auto several = std::make_unique<SeveralProcesses>(options.load);
  if (absl::Status status = several->Fork(options); !status.ok()) {
    return status;
  }
  return several;
}

}  // namespace gatherd::client
