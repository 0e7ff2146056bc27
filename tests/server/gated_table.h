// A table whose lookups wait at a gate, for tests of what happens meanwhile.
#ifndef GATHERD_TESTS_SERVER_GATED_TABLE_H_
#define GATHERD_TESTS_SERVER_GATED_TABLE_H_

#include <atomic>
#include <memory>

#include "absl/synchronization/mutex.h"
#include "core/catalog/catalog.h"
#include "core/table/cpu_table.h"

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

class GatedTable final : public Table {
 public:
  GatedTable(std::unique_ptr<Table> table, Gate* gate)
      : table_(std::move(table)), gate_(gate) {}

  const TableSpec& spec() const override { return table_->spec(); }
  absl::StatusOr<LookupResult> Lookup(const LookupBatch& batch,
                                      const LookupOutput& output) override {
    gate_->Pass();
    return table_->Lookup(batch, output);
  }
  absl::StatusOr<std::unique_ptr<PreparedUpdate>> PrepareUpdate(
      absl::Span<const UpdateBatch> batches) override {
    return table_->PrepareUpdate(batches);
  }
  absl::StatusOr<EraseResult> Erase(absl::Span<const int64_t> keys) override {
    return table_->Erase(keys);
  }
  absl::StatusOr<uint64_t> Scan(const ScanVisitor& visit) override {
    return table_->Scan(visit);
  }
  TableStats Stats() const override { return table_->Stats(); }

 private:
  const std::unique_ptr<Table> table_;
  Gate* const gate_;
};

inline TableFactory GatedTables(Gate* gate) {
  return
      [gate](const TableSpec& spec) -> absl::StatusOr<std::unique_ptr<Table>> {
        auto table = CreateCpuTable(spec);
        if (!table.ok()) return table.status();
        return std::make_unique<GatedTable>(*std::move(table), gate);
      };
}

}  // namespace gatherd

#endif  // GATHERD_TESTS_SERVER_GATED_TABLE_H_
