// How lookup jobs become launches: joined, cut, divided over devices, refused.
// On the fake of CUDA, where a launch is over when its call returns unless
// streams have threads: hooks hold it up where a real one would be under way.
#include "core/gpu/lookup_engine.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "core/base/device_loss.h"
#include "core/gpu/gpu_dispatcher.h"
#include "core/gpu/gpu_table.h"
#include "core/table/cpu_table.h"
#include "tests/core/cuda/fake_cuda.h"
#include "tests/core/gpu/host_kernels.h"

namespace gatherd {
namespace {

constexpr uint32_t kDim = 4;
constexpr uint64_t kRows = 100'000;

TableSpec Spec(KeySpace key_space, TierKind tier = TierKind::kGpu) {
  TableSpec spec;
  spec.name = "t";
  spec.dim = kDim;
  spec.key_space = key_space;
  spec.tiers = {{.kind = tier, .rows = kRows}};
  return spec;
}

// Row `key` of a table is key + 1 four times.
void Fill(Table& table, int64_t num_keys) {
  std::vector<int64_t> keys;
  std::vector<float> values;
  for (int64_t key = 0; key < num_keys; ++key) {
    keys.push_back(key);
    values.insert(values.end(), kDim, static_cast<float>(key + 1));
  }
  UpdateBatch batch;
  batch.keys = keys;
  batch.values = reinterpret_cast<const std::byte*>(values.data());
  REQUIRE(Update(table, batch).ok());
}

// A job for keys of one table or more, and the memory for its answer.
class TestJob {
 public:
  TestJob() {
    job.done = [this](absl::Status result) {
      status = std::move(result);
      ended.Notify();
    };
  }

  void Add(Table& table, int64_t first, size_t num_keys) {
    Part& part = *parts_.emplace_back(std::make_unique<Part>());
    for (size_t i = 0; i < num_keys; ++i) {
      part.keys.push_back(first + static_cast<int64_t>(i));
    }
    part.rows.assign(num_keys * kDim, -1.0f);
    part.missing.assign((num_keys + 7) / 8, 0);
    LookupSegment& segment = job.segments.emplace_back();
    segment.table = &table;
    segment.batch.keys = part.keys;
    segment.output.rows = reinterpret_cast<std::byte*>(part.rows.data());
    segment.output.missing = part.missing.data();
  }

  // Rows as Fill writes them for keys below `num_filled`, the default row and
  // its bit for others.
  void CheckAnswer(int64_t num_filled) {
    ended.WaitForNotification();
    REQUIRE(status.ok());
    for (size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = *parts_[p];
      uint64_t num_missing = 0;
      bool right = true;
      for (size_t i = 0; i < part.keys.size(); ++i) {
        const bool found = part.keys[i] < num_filled;
        const float expected =
            found ? static_cast<float>(part.keys[i] + 1) : 0.0f;
        for (uint32_t e = 0; e < kDim; ++e) {
          right = right && part.rows[i * kDim + e] == expected;
        }
        right = right && (part.missing[i / 8] >> (i % 8) & 1) == !found;
        num_missing += !found;
      }
      CHECK(right);
      CHECK(job.segments[p].result.num_missing == num_missing);
      CHECK(job.segments[p].result.tier_hits[0] ==
            part.keys.size() - num_missing);
    }
  }

  bool IsUntouched() const { return parts_[0]->rows[0] == -1.0f; }

  LookupJob job;
  absl::Status status;
  absl::Notification ended;

 private:
  struct Part {
    std::vector<int64_t> keys;
    std::vector<float> rows;
    std::vector<uint8_t> missing;
  };
  std::vector<std::unique_ptr<Part>> parts_;
};

// Holds every launch from its first lookup on until it is told to go on.
class HeldLaunches {
 public:
  HeldLaunches()
      : hooks_({[](const kernels::LookupBatch&) {},
                [this](const kernels::LookupBatch&) {
                  if (!held_.HasBeenNotified()) held_.Notify();
                  go_on_.WaitForNotification();
                }}) {}

  void WaitUntilHeld() { held_.WaitForNotification(); }
  void GoOn() { go_on_.Notify(); }

 private:
  absl::Notification held_;
  absl::Notification go_on_;
  kernels::ScopedLookupHooks hooks_;
};

std::unique_ptr<GpuNode> MakeNode(FakeCuda& cuda, int num_devices,
                                  int num_contexts = 4,
                                  uint64_t max_bag_keys = 1000) {
  GpuNodeOptions options;
  for (int i = 0; i < num_devices; ++i) options.devices.push_back(DeviceId{i});
  const std::vector<TableSpec> specs(4, Spec(KeySpace::kHashed));
  REQUIRE(PlanTables(specs, &options).ok());
  options.lookup_contexts_per_device = num_contexts;
  options.max_bag_keys = max_bag_keys;
  auto node = GpuNode::Create(cuda.api(), kernels::HostKernels(), options);
  REQUIRE(node.ok());
  return *std::move(node);
}

std::unique_ptr<Table> MakeTable(GpuNode& node, KeySpace key_space) {
  auto table = GpuTable::Create(node, Spec(key_space));
  REQUIRE(table.ok());
  return *std::move(table);
}

// Has three jobs answered on a node of one context: the first holds it until
// the others are queued. `bring` is Submit or Answer.
void AnswerOnOneContext(void (LookupEngine::*bring)(LookupJob*),
                        TestJob (&jobs)[3]) {
  FakeCuda cuda(1);
  const auto node = MakeNode(cuda, 1, /*num_contexts=*/1);
  LookupEngine& lookups = node->lookups();
  const auto table = MakeTable(*node, KeySpace::kHashed);
  Fill(*table, 100);
  jobs[0].Add(*table, 0, 10);
  jobs[1].Add(*table, 90, 20);
  jobs[2].Add(*table, 50, 5);
  HeldLaunches launches;
  std::thread first([&] { (lookups.*bring)(&jobs[0].job); });
  launches.WaitUntilHeld();
  (lookups.*bring)(&jobs[1].job);
  (lookups.*bring)(&jobs[2].job);
  CHECK(lookups.num_queued() == 2);
  launches.GoOn();
  for (TestJob& job : jobs) job.CheckAnswer(100);
  first.join();
  CHECK(lookups.num_queued() == 0);
}

}  // namespace

TEST_CASE("jobs that wait for a context are joined into one launch") {
  TestJob jobs[3];
  AnswerOnOneContext(&LookupEngine::Submit, jobs);
  CHECK(jobs[0].job.launch_requests == 1);
  CHECK(jobs[1].job.launch_requests == 2);
  CHECK(jobs[2].job.launch_requests == 0);
}

TEST_CASE("a job of one batch is ended by the thread that brings it") {
  FakeCuda cuda(2);
  const auto node = MakeNode(cuda, 2);
  const auto table = MakeTable(*node, KeySpace::kDense);
  Fill(*table, kRows);
  const auto ends_here = [&](size_t num_keys, int num_segments) {
    TestJob job;
    for (int i = 0; i < num_segments; ++i) job.Add(*table, i, num_keys);
    std::thread::id thread;
    job.job.done = [&, done = job.job.done](absl::Status status) {
      thread = std::this_thread::get_id();
      done(std::move(status));
    };
    node->lookups().Answer(&job.job);
    job.CheckAnswer(kRows);
    CHECK(job.job.times.submitted <= job.job.times.started);
    CHECK(job.job.times.started <= job.job.times.finished);
    if (thread != std::this_thread::get_id()) return false;
    CHECK(job.job.launch_requests == 1);
    return true;
  };
  CHECK(ends_here(1, 1));
  CHECK(ends_here(kMaxWholeWork, 1));
  CHECK(ends_here(kMaxWholeWork / kLookupChunkSegments, kLookupChunkSegments));
  CHECK_FALSE(ends_here(kMaxWholeWork + 1, 1));
  CHECK_FALSE(ends_here(kMaxWholeWork / 2 + 1, 2));
  // Small ones that come one at a time are better off with the completer.
  for (int i = 0; i < 20; ++i) ends_here(1, 1);
  CHECK_FALSE(ends_here(1, 1));
  CHECK(ends_here(kMaxWholeWork, 1));
}

TEST_CASE("many pooled keys are one batch") {
  FakeCuda cuda(1);
  const auto node = MakeNode(cuda, 1, /*num_contexts=*/4,
                             /*max_bag_keys=*/40'000);
  const auto table = MakeTable(*node, KeySpace::kDense);
  Fill(*table, kRows);
  std::atomic<int> num_launches{0};  // by whichever thread ends a batch
  kernels::ScopedLookupHooks hooks(
      {[&](const kernels::LookupBatch&) { ++num_launches; },
       [](const kernels::LookupBatch&) {}});
  for (const size_t num_keys : {40'000, 40'001}) {
    TestJob job;
    job.Add(*table, 0, num_keys);
    const std::vector<uint32_t> offsets = {0, 10'000, 20'000};
    job.job.segments[0].batch.pooling = Pooling::kSum;
    job.job.segments[0].batch.offsets = offsets;
    num_launches = 0;
    node->lookups().Answer(&job.job);
    job.ended.WaitForNotification();
    CHECK(job.status.ok());
    CHECK((num_launches == 1) == (num_keys == 40'000));
  }
}

TEST_CASE("a batch that takes long is left to the completer") {
  FakeCuda cuda(1, FakeStreams::kInThreads);
  const auto node = MakeNode(cuda, 1);
  const auto table = MakeTable(*node, KeySpace::kHashed);
  Fill(*table, 100);
  TestJob job;
  job.Add(*table, 0, 10);
  std::thread::id ender;
  job.job.done = [&, done = job.job.done](absl::Status status) {
    ender = std::this_thread::get_id();
    done(std::move(status));
  };
  HeldLaunches launches;
  absl::Notification answered;
  std::thread submitter([&] {
    node->lookups().Answer(&job.job);
    answered.Notify();
  });
  const std::thread::id submitter_id = submitter.get_id();
  launches.WaitUntilHeld();
  CHECK(answered.WaitForNotificationWithTimeout(absl::Seconds(20)));
  CHECK(!job.ended.HasBeenNotified());
  launches.GoOn();
  job.CheckAnswer(100);
  CHECK(ender != submitter_id);
  submitter.join();
}

TEST_CASE("a job that finds no context free leaves its thread") {
  TestJob jobs[3];
  AnswerOnOneContext(&LookupEngine::Answer, jobs);
  CHECK(jobs[1].job.launch_requests + jobs[2].job.launch_requests == 2);
}

TEST_CASE("what is not wanted any more is not launched") {
  FakeCuda cuda(1);
  const auto node = MakeNode(cuda, 1, /*num_contexts=*/1);
  const auto table = MakeTable(*node, KeySpace::kHashed);
  TestJob first, cancelled, late;
  first.Add(*table, 0, 10);
  cancelled.Add(*table, 0, 10);
  late.Add(*table, 0, 10);
  late.job.deadline = absl::Now();
  HeldLaunches launches;
  std::thread submitter([&] { node->lookups().Submit(&first.job); });
  launches.WaitUntilHeld();
  node->lookups().Submit(&cancelled.job);
  node->lookups().Submit(&late.job);
  cancelled.job.cancelled = true;
  launches.GoOn();
  first.CheckAnswer(0);
  cancelled.ended.WaitForNotification();
  late.ended.WaitForNotification();
  submitter.join();
  CHECK(absl::IsCancelled(cancelled.status));
  CHECK(cancelled.IsUntouched());
  CHECK(absl::IsDeadlineExceeded(late.status));
  CHECK(late.IsUntouched());
}

TEST_CASE("a job of many keys and tables is cut and put together again") {
  FakeCuda cuda(3);
  for (const int num_devices : {1, 3}) {
    const auto node = MakeNode(cuda, num_devices);
    const auto hashed = MakeTable(*node, KeySpace::kHashed);
    Fill(*hashed, 80'000);
    TestJob job;
    job.Add(*hashed, 0, 90'001);
    for (int i = 0; i < 200; ++i) job.Add(*hashed, 79'990 + i, 7);
    node->lookups().Submit(&job.job);
    job.CheckAnswer(80'000);
  }
}

TEST_CASE("large batches are divided by owner, small ones go to one device") {
  FakeCuda cuda(2);
  const auto node = MakeNode(cuda, 2);
  for (const KeySpace key_space : {KeySpace::kDense, KeySpace::kHashed}) {
    const auto table = MakeTable(*node, key_space);
    Fill(*table, kRows);
    const auto reads = [&] {
      RowReads sum;
      for (const uint32_t i : {0, 1}) {
        const RowReads one = node->lookups().row_reads(DeviceIndex{i});
        sum.local += one.local;
        sum.remote += one.remote;
      }
      return sum;
    };
    const RowReads before = reads();
    TestJob small;
    small.Add(*table, 0, 1000);
    node->lookups().Submit(&small.job);
    small.CheckAnswer(kRows);
    const RowReads after_small = reads();
    CHECK(after_small.local + after_small.remote ==
          before.local + before.remote + 1000);
    CHECK(after_small.remote > before.remote + 300);
    TestJob large;
    large.Add(*table, 0, 20'000);
    node->lookups().Submit(&large.job);
    large.CheckAnswer(kRows);
    const RowReads after_large = reads();
    CHECK(after_large.local == after_small.local + 20'000);
    CHECK(after_large.remote == after_small.remote);
  }
}

TEST_CASE("a self-test is answered by its device and counts nowhere") {
  FakeCuda cuda(2);
  const auto node = MakeNode(cuda, 2);
  const auto table = MakeTable(*node, KeySpace::kDense);
  std::vector<int32_t> devices;
  kernels::ScopedLookupHooks hooks({[&](const kernels::LookupBatch& batch) {
                                      devices.push_back(batch.this_shard);
                                    },
                                    [](const kernels::LookupBatch&) {}});
  for (const uint32_t device : {1, 0, 1, 1}) {
    TestJob job;
    job.Add(*table, 0, 1);
    job.job.self_test_device = DeviceIndex{device};
    node->lookups().Submit(&job.job);
    job.ended.WaitForNotification();
    CHECK(job.status.ok());
    CHECK(devices.back() == static_cast<int32_t>(device));
    for (const uint32_t i : {0, 1}) {
      CHECK(node->lookups().row_reads(DeviceIndex{i}).local == 0);
    }
  }
}

TEST_CASE("a bag of more keys than a context has room for is refused") {
  FakeCuda cuda(1);
  const auto node = MakeNode(cuda, 1);
  const auto table = MakeTable(*node, KeySpace::kDense);
  for (const size_t num_keys : {1000, 1001}) {
    TestJob job;
    job.Add(*table, 0, num_keys);
    const uint32_t offset = 0;
    job.job.segments[0].batch.pooling = Pooling::kSum;
    job.job.segments[0].batch.offsets = {&offset, 1};
    node->lookups().Submit(&job.job);
    job.ended.WaitForNotification();
    if (num_keys == 1000) {
      CHECK(job.status.ok());
    } else {
      CHECK(absl::IsInvalidArgument(job.status));
      CHECK(job.status.message() ==
            "table \"t\": a bag of 1001 keys; at most 1000 are allowed");
    }
  }
}

TEST_CASE("a device that fails ends its jobs, and refuses later ones") {
  FakeCuda cuda(1);
  const auto node = MakeNode(cuda, 1);
  const auto table = MakeTable(*node, KeySpace::kHashed);
  TestJob failed, later;
  failed.Add(*table, 0, 10);
  later.Add(*table, 0, 10);
  cuda.FailCall(cuda.num_calls() + 1);
  node->lookups().Submit(&failed.job);
  failed.ended.WaitForNotification();
  CHECK(absl::IsInternal(failed.status));
  CHECK(IsDeviceLoss(failed.status));
  CHECK(std::string(failed.status.message()).find("device 0") !=
        std::string::npos);
  REQUIRE(cuda.failed_call().has_value());
  node->lookups().Submit(&later.job);
  later.ended.WaitForNotification();
  CHECK(absl::IsInternal(later.status));
  CHECK(IsDeviceLoss(later.status));
}

TEST_CASE("a job over both kinds of tables is cancelled in all its parts") {
  FakeCuda cuda(1);
  const auto node = MakeNode(cuda, 1, /*num_contexts=*/1);
  const auto on_gpu = MakeTable(*node, KeySpace::kHashed);
  auto on_host = CreateCpuTable(Spec(KeySpace::kHashed, TierKind::kHost));
  REQUIRE(on_host.ok());
  const auto dispatcher = CreateGpuDispatcher(*node, {});
  TestJob first, mixed;
  first.Add(*on_gpu, 0, 10);
  mixed.Add(*on_gpu, 0, 10);
  mixed.Add(**on_host, 0, 10);
  HeldLaunches launches;
  std::thread submitter([&] { dispatcher->SubmitLookup(&first.job); });
  launches.WaitUntilHeld();
  dispatcher->SubmitLookup(&mixed.job);
  // The half on the GPU waits.
  mixed.job.cancelled = true;
  launches.GoOn();
  mixed.ended.WaitForNotification();
  first.CheckAnswer(0);
  submitter.join();
  CHECK(absl::IsCancelled(mixed.status));
  CHECK(mixed.IsUntouched());
}

TEST_CASE("a job over GPU tables and host tables gets both answers") {
  FakeCuda cuda(2);
  const auto node = MakeNode(cuda, 2);
  const auto on_gpu = MakeTable(*node, KeySpace::kHashed);
  auto on_host = CreateCpuTable(Spec(KeySpace::kHashed, TierKind::kHost));
  REQUIRE(on_host.ok());
  Fill(*on_gpu, 100);
  Fill(**on_host, 100);
  const auto dispatcher = CreateGpuDispatcher(*node, {});
  for (const bool gpu : {false, true}) {
    for (const bool host : {false, true}) {
      TestJob job;
      if (gpu) job.Add(*on_gpu, 95, 10);
      if (host) job.Add(**on_host, 90, 20);
      if (gpu) job.Add(*on_gpu, 0, 3000);
      dispatcher->SubmitLookup(&job.job);
      job.CheckAnswer(100);
    }
  }
}

}  // namespace gatherd
