// A table whose rows are computed, for tests of what stands above tables.
#ifndef GATHERD_TESTS_CORE_EXEC_FAKE_TABLE_H_
#define GATHERD_TESTS_CORE_EXEC_FAKE_TABLE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/table/table.h"

namespace gatherd {

// float32; element j of the row of key k is k + j. Keys that are 3 modulo 7 are
// missing; their row is -1. Every lookup is at a revision one higher than the
// one before it. Nothing can be written.
class FakeTable : public Table {
 public:
  explicit FakeTable(uint32_t dim = 1);

  static bool IsMissing(int64_t key) { return (key % 7 + 7) % 7 == 3; }

  // Called at the start of every lookup, on its thread; may block or fail. Set
  // before the first lookup.
  std::function<absl::Status(const LookupBatch&)> on_lookup;

  uint64_t num_lookups() const { return revision_.load(); }

  const TableSpec& spec() const override { return spec_; }
  absl::StatusOr<LookupResult> Lookup(const LookupBatch& batch,
                                      const LookupOutput& output) override;
  absl::StatusOr<std::unique_ptr<PreparedUpdate>> PrepareUpdate(
      absl::Span<const UpdateBatch> batches) override;
  absl::StatusOr<EraseResult> Erase(absl::Span<const int64_t> keys) override;
  absl::StatusOr<uint64_t> Scan(const ScanVisitor& visit) override;
  TableStats Stats() const override { return {}; }

 private:
  float Element(int64_t key, uint32_t j) const;

  TableSpec spec_;
  std::atomic<uint64_t> revision_{0};
};

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_EXEC_FAKE_TABLE_H_
