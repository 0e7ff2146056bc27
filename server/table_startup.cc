#include "server/table_startup.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/catalog/source_loader.h"
#include "server/fault.h"
#include "server/log.h"
#include "server/self_test.h"

namespace gatherd {
namespace {

constexpr absl::Duration kProgressInterval = absl::Seconds(5);

// Names the table where the error does not: the tables' own errors do, those of
// files and devices do not.
absl::Status InTable(const CatalogEntry& entry, const absl::Status& status) {
  const std::string table = absl::StrCat("table \"", entry.spec().name, "\"");
  if (absl::StrContains(status.message(), table)) return status;
  return absl::Status(status.code(),
                      absl::StrCat(table, ": ", status.message()));
}

void LogLoaded(const CatalogEntry& entry, const LoadReport& report) {
  for (const std::string& note : report.notes) {
    Log(LogLevel::kInfo, "note on a source",
        {{"table", entry.spec().name}, {"note", note}});
  }
  Log(LogLevel::kInfo, "table loaded",
      {{"table", entry.spec().name},
       {"source_rows", report.num_rows},
       {"rows", entry.Stats().num_rows},
       {"seconds", report.seconds}});
}

}  // namespace

TableStartup::TableStartup(const Catalog& catalog, TableFactory make_table,
                           Dispatcher& dispatcher, uint32_t num_devices,
                           const LoadOptions& load)
    : catalog_(catalog),
      make_table_(std::move(make_table)),
      dispatcher_(dispatcher),
      num_devices_(std::max(1u, num_devices)),
      load_(load) {}

TableStartup::~TableStartup() {
  Cancel();
  if (thread_.joinable()) thread_.join();
}

void TableStartup::Start(std::function<void(absl::Status)> done) {
  {
    absl::MutexLock lock(&mutex_);
    ended_ = false;
  }
  thread_ = std::thread([this, done = std::move(done)] { Run(done); });
}

void TableStartup::Cancel() {
  cancelled_.store(true, std::memory_order_relaxed);
  for (const auto& entry : catalog_.entries()) {
    entry->progress().cancelled = true;
  }
}

bool TableStartup::WaitForEnd(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&ended_), timeout);
}

void TableStartup::Run(const std::function<void(absl::Status)>& done) {
  StartWorkers();
  LogProgressUntilLoaded();
  for (std::thread& worker : workers_) worker.join();
  absl::Status status;
  {
    absl::MutexLock lock(&mutex_);
    status = status_;
  }
  if (status.ok()) status = TestTables();
  done(std::move(status));
  absl::MutexLock lock(&mutex_);
  ended_ = true;
}

void TableStartup::StartWorkers() {
  const int num_cores =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int num_workers =
      std::min(num_cores, static_cast<int>(catalog_.entries().size()));
  {
    absl::MutexLock lock(&mutex_);
    num_working_ = num_workers;
  }
  LoadOptions load = load_;
  load.num_threads = num_cores / std::max(1, num_workers);
  load.memory_bytes /= static_cast<uint64_t>(std::max(1, num_workers));
  for (int i = 0; i < num_workers; ++i) {
    workers_.emplace_back([this, load] { RunWorker(load); });
  }
}

void TableStartup::RunWorker(const LoadOptions& load) {
  const auto& entries = catalog_.entries();
  absl::Status status;
  while (status.ok()) {
    const size_t index = next_table_.fetch_add(1, std::memory_order_relaxed);
    if (index >= entries.size()) break;
    if (cancelled_.load(std::memory_order_relaxed)) {
      status = absl::CancelledError("loading was cancelled");
      break;
    }
    CatalogEntry& entry = *entries[index];
    status = CatchExceptions([&] { return BringUp(entry, load); });
    if (!status.ok()) status = InTable(entry, status);
  }
  EndWorker(std::move(status));
}

void TableStartup::EndWorker(absl::Status status) {
  const bool failed = !status.ok();
  {
    absl::MutexLock lock(&mutex_);
    if (status_.ok()) status_ = std::move(status);
    --num_working_;
  }
  if (failed) Cancel();  // the others need not go on
}

absl::Status TableStartup::BringUp(CatalogEntry& entry,
                                   const LoadOptions& load) {
  absl::Status status = entry.MakeTable(make_table_);
  if (!status.ok()) return status;
  if (!entry.source().empty()) {
    const auto report =
        LoadSource(entry.source(), *entry.table(), load, entry.progress());
    if (!report.ok()) return report.status();
    LogLoaded(entry, *report);
  }
  entry.set_ready();
  return absl::OkStatus();
}

void TableStartup::LogProgressUntilLoaded() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      const bool ended = mutex_.AwaitWithTimeout(
          absl::Condition(this, &TableStartup::AllWorkersEnded),
          kProgressInterval);
      if (ended) return;
    }
    for (const auto& entry : catalog_.entries()) {
      if (entry->ready()) continue;
      Log(LogLevel::kInfo, "table is being loaded",
          {{"table", entry->spec().name},
           {"rows_loaded", entry->progress().rows_loaded.load()},
           {"rows_total", entry->progress().rows_total.load()}});
    }
  }
}

absl::Status TableStartup::TestTables() {
  for (const auto& entry : catalog_.entries()) {
    for (uint32_t i = 0; i < num_devices_; ++i) {
      const absl::Status status =
          TestTable(*entry, DeviceIndex{i}, dispatcher_);
      if (!status.ok()) return InTable(*entry, status);
    }
  }
  return absl::OkStatus();
}

}  // namespace gatherd
