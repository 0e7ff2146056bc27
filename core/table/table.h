// One embedding table: the contract that every key space and backend keeps.
// tests/core/table/table_contract.h is this contract as a test suite.
//
// Any number of threads may call any method at any time. Lookups take no lock
// and never wait for a writer; writers of one table take turns.
//
// Consistency:
// - A row is never torn: a lookup returns all of one written value.
// - A lookup that starts after a write has returned sees it.
// - A refused write has changed nothing.
// - While a write runs, a lookup may see either value of each of its rows.
#ifndef GATHERD_CORE_TABLE_TABLE_H_
#define GATHERD_CORE_TABLE_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/table/batch.h"
#include "core/table/table_spec.h"

namespace gatherd {

struct TierStats {
  TierKind kind = TierKind::kHost;
  uint64_t capacity_rows = 0;  // 0: unbounded
  uint64_t num_rows = 0;
  uint64_t memory_bytes = 0;              // rows and index together
  uint64_t num_evictions = 0;             // since the table was made
  std::vector<uint64_t> rows_per_device;  // gpu tier on the cuda backend
};

struct TableStats {
  uint64_t num_rows = 0;  // exact; of a dense table always its size
  uint64_t revision = 0;
  std::vector<TierStats> tiers;  // as configured, fastest first
};

// An update that has been checked and has room, but has not begun. Holds the
// table's turn to write: keep it short, and prepare several tables in one
// order everywhere (UpdateTables in core/catalog does). Destroyed without
// Commit, it gives everything back and nothing has changed. Belongs to the
// thread that prepared it.
class PreparedUpdate {
 public:
  virtual ~PreparedUpdate() = default;

  // Applies the batches in order. One result a batch. Call at most once. Fails
  // only where a device or a store does, which leaves the rows of this update
  // old or new, each whole.
  virtual absl::StatusOr<std::vector<UpdateResult>> Commit() = 0;
};

class Table {
 public:
  virtual ~Table() = default;

  virtual const TableSpec& spec() const = 0;

  // Fills `output` (see LookupOutput for sizes). Fails only where a tier below
  // can fail (UNAVAILABLE), never for a missing key: the policy for those is
  // the caller's.
  virtual absl::StatusOr<LookupResult> Lookup(const LookupBatch& batch,
                                              const LookupOutput& output) = 0;

  // Finds out whether all of `batches`, applied in order, fit.
  // RESOURCE_EXHAUSTED naming table, rows needed, the limit and its setting.
  virtual absl::StatusOr<std::unique_ptr<PreparedUpdate>> PrepareUpdate(
      absl::Span<const UpdateBatch> batches) = 0;

  virtual absl::StatusOr<EraseResult> Erase(absl::Span<const int64_t> keys) = 0;

  // Calls `visit` with every existing row at one revision, in no particular
  // order, a block of rows at a time (each spec().row_bytes() long, without
  // padding), and returns that revision. Writers wait, lookups do not. Stops
  // at the first error of `visit` and returns it.
  using ScanVisitor = std::function<absl::Status(absl::Span<const int64_t> keys,
                                                 const std::byte* rows)>;
  virtual absl::StatusOr<uint64_t> Scan(const ScanVisitor& visit) = 0;

  // A consistent-enough picture for people and metrics; takes no lock that a
  // lookup or a running write holds for long.
  virtual TableStats Stats() const = 0;
};

// PrepareUpdate and Commit in one.
absl::StatusOr<UpdateResult> Update(Table& table, const UpdateBatch& batch);

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_TABLE_H_
