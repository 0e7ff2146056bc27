// gatherd on the CPU backend, its tables on a device that is lost with the
// first lookup of key 13, and that fails a lookup of key 7 without being lost.
#include <cstdio>
#include <memory>
#include <utility>

#include "core/base/device_loss.h"
#include "core/table/cpu_table.h"
#include "server/backend.h"
#include "server/config.h"
#include "server/exit_code.h"
#include "server/invocation.h"
#include "server/server.h"

namespace gatherd {
namespace {

class LosingTable final : public Table {
 public:
  explicit LosingTable(std::unique_ptr<Table> table)
      : table_(std::move(table)) {}

  const TableSpec& spec() const override { return table_->spec(); }
  absl::StatusOr<LookupResult> Lookup(const LookupBatch& batch,
                                      const LookupOutput& output) override {
    for (const int64_t key : batch.keys) {
      const absl::Status error = absl::InternalError("device 0: a kernel died");
      if (key == 7) return error;
      if (key == 13) return MarkDeviceLoss(error);
    }
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

absl::StatusOr<Backend> LosingBackend(const Config& /*config*/) {
  Backend backend = CpuBackend();
  backend.make_table =
      [](const TableSpec& spec) -> absl::StatusOr<std::unique_ptr<Table>> {
    auto table = CreateCpuTable(spec);
    if (!table.ok()) return table.status();
    return std::make_unique<LosingTable>(*std::move(table));
  };
  return backend;
}

int Main(int argc, char** argv) {
  const auto invocation = ParseInvocation(argc, argv);
  if (!invocation.ok()) return kExitUsage;
  const auto config = LoadConfig(invocation->config_path);
  if (!config.ok()) {
    std::fprintf(stderr, "%s\n", config.status().ToString().c_str());
    return kExitUsage;
  }
  return RunServer(*config, LosingBackend);
}

}  // namespace
}  // namespace gatherd

int main(int argc, char** argv) { return gatherd::Main(argc, argv); }
