// Brings the tables of a catalog up in the background: takes their memory,
// loads their sources, several tables at a time, and at last asks each one on
// every device.
#ifndef GATHERD_SERVER_TABLE_STARTUP_H_
#define GATHERD_SERVER_TABLE_STARTUP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "core/catalog/catalog.h"
#include "core/catalog/source_loader.h"
#include "core/exec/dispatcher.h"

namespace gatherd {

class TableStartup {
 public:
  // The catalog, the dispatcher and the memory of `load` outlive this, which
  // deals out threads and load.memory_bytes. `num_devices` of the backend, 0
  // for the CPU.
  TableStartup(const Catalog& catalog, TableFactory make_table,
               Dispatcher& dispatcher, uint32_t num_devices,
               const LoadOptions& load);
  // Cancels and waits for its threads.
  ~TableStartup();

  // Call once. `done` runs once, on a thread of this: OK when every table is
  // ready and has answered, else the first error, naming the table. A table is
  // ready as soon as it is loaded itself.
  void Start(std::function<void(absl::Status)> done);

  // Makes loading end soon, with CANCELLED.
  void Cancel();

  // Whether the work has ended, `done` included; waits for it up to `timeout`.
  bool WaitForEnd(absl::Duration timeout);

 private:
  void Run(const std::function<void(absl::Status)>& done);
  void StartWorkers();
  void RunWorker(const LoadOptions& load);
  void EndWorker(absl::Status status);
  absl::Status BringUp(CatalogEntry& entry, const LoadOptions& load);
  void LogProgressUntilLoaded();
  absl::Status TestTables();

  bool AllWorkersEnded() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return num_working_ == 0;
  }

  const Catalog& catalog_;
  const TableFactory make_table_;
  Dispatcher& dispatcher_;
  const uint32_t num_devices_;
  const LoadOptions load_;

  std::thread thread_;                // runs Run
  std::vector<std::thread> workers_;  // its alone
  // Relaxed: they order nothing, what workers share has the mutex.
  std::atomic<size_t> next_table_{0};
  std::atomic<bool> cancelled_{false};

  absl::Mutex mutex_;
  int num_working_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = true;
};

}  // namespace gatherd

#endif  // GATHERD_SERVER_TABLE_STARTUP_H_
