// A table of the CPU that tests change one thing about: it forwards all calls.
#ifndef GATHERD_TESTS_SERVER_FORWARDING_TABLE_H_
#define GATHERD_TESTS_SERVER_FORWARDING_TABLE_H_

#include <memory>
#include <utility>

#include "core/catalog/catalog.h"
#include "core/table/cpu_table.h"

namespace gatherd {

class ForwardingTable : public Table {
 public:
  explicit ForwardingTable(std::unique_ptr<Table> table)
      : table_(std::move(table)) {}

  const TableSpec& spec() const override { return table_->spec(); }
  absl::StatusOr<LookupResult> Lookup(const LookupBatch& batch,
                                      const LookupOutput& output) override {
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
};

// Makes tables of the CPU, each inside an `Outer(table, arguments...)`.
template <typename Outer, typename... Arguments>
TableFactory CpuTablesIn(Arguments... arguments) {
  return [=](const TableSpec& spec) -> absl::StatusOr<std::unique_ptr<Table>> {
    auto table = CreateCpuTable(spec);
    if (!table.ok()) return table.status();
    return std::make_unique<Outer>(*std::move(table), arguments...);
  };
}

}  // namespace gatherd

#endif  // GATHERD_TESTS_SERVER_FORWARDING_TABLE_H_
