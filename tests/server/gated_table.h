// A table whose lookups wait at a gate, for tests of what happens meanwhile.
#ifndef GATHERD_TESTS_SERVER_GATED_TABLE_H_
#define GATHERD_TESTS_SERVER_GATED_TABLE_H_

#include <atomic>
#include <memory>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "tests/server/forwarding_table.h"

namespace gatherd {

class Gate {
 public:
  // For a lookup: counts itself, waits until the gate is open.
  void Pass() {
    absl::MutexLock lock(&mutex_);
    ++num_arrived_;
    mutex_.Await(absl::Condition(&open_));
  }
  void Open() {
    absl::MutexLock lock(&mutex_);
    open_ = true;
  }
  void Close() {
    absl::MutexLock lock(&mutex_);
    open_ = false;
  }
  int num_arrived() {
    absl::MutexLock lock(&mutex_);
    return num_arrived_;
  }
  void WaitForArrivals(int count) {
    const auto arrived = [&] { return num_arrived_ >= count; };
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&arrived));
  }

 private:
  absl::Mutex mutex_;
  bool open_ = true;
  int num_arrived_ = 0;
};

class GatedTable final : public ForwardingTable {
 public:
  GatedTable(std::unique_ptr<Table> table, Gate* gate)
      : ForwardingTable(std::move(table)), gate_(gate) {}

  absl::StatusOr<LookupResult> Lookup(const LookupBatch& batch,
                                      const LookupOutput& output) override {
    gate_->Pass();
    return ForwardingTable::Lookup(batch, output);
  }

 private:
  Gate* const gate_;
};

inline TableFactory GatedTables(Gate* gate) {
  return CpuTablesIn<GatedTable>(gate);
}

}  // namespace gatherd

#endif  // GATHERD_TESTS_SERVER_GATED_TABLE_H_
