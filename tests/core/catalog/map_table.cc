#include "tests/core/catalog/map_table.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace gatherd {

class MapTable::Prepared : public PreparedUpdate {
 public:
  Prepared(MapTable* table, std::unique_lock<std::mutex> turn,
           absl::Span<const UpdateBatch> batches)
      : table_(table),
        turn_(std::move(turn)),
        batches_(batches.begin(), batches.end()) {}

  absl::StatusOr<std::vector<UpdateResult>> Commit() override {
    std::vector<UpdateResult> results;
    for (const UpdateBatch& batch : batches_) {
      results.push_back(table_->Apply(batch));
    }
    return results;
  }

 private:
  MapTable* const table_;
  const std::unique_lock<std::mutex> turn_;
  const std::vector<UpdateBatch> batches_;
};

UpdateResult MapTable::Apply(const UpdateBatch& batch) {
  UpdateResult result;
  std::set<int64_t> seen;
  for (size_t i = 0; i < batch.keys.size(); ++i) {
    const auto* row =
        reinterpret_cast<const char*>(batch.values) + i * spec_.row_bytes();
    const bool inserted =
        rows_
            .insert_or_assign(batch.keys[i],
                              std::string(row, spec_.row_bytes()))
            .second;
    if (seen.insert(batch.keys[i]).second) {
      ++(inserted ? result.num_inserted : result.num_updated);
    }
  }
  result.revision = ++revision_;
  return result;
}

absl::StatusOr<std::unique_ptr<PreparedUpdate>> MapTable::PrepareUpdate(
    absl::Span<const UpdateBatch> batches) {
  std::unique_lock<std::mutex> turn(turn_);
  std::set<int64_t> added;
  for (const UpdateBatch& batch : batches) {
    if (batch.data_type != spec_.data_type || batch.mode != UpdateMode::kSet) {
      return absl::UnimplementedError("fake");
    }
    for (const int64_t key : batch.keys) {
      if (rows_.count(key) == 0) added.insert(key);
    }
  }
  if (rows_.size() + added.size() > spec_.rows()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("table \"", spec_.name, "\" is full"));
  }
  return std::make_unique<Prepared>(this, std::move(turn), batches);
}

absl::StatusOr<LookupResult> MapTable::Lookup(const LookupBatch&,
                                              const LookupOutput&) {
  return absl::UnimplementedError("fake");
}

absl::StatusOr<EraseResult> MapTable::Erase(absl::Span<const int64_t>) {
  return absl::UnimplementedError("fake");
}

absl::StatusOr<uint64_t> MapTable::Scan(const ScanVisitor&) {
  return absl::UnimplementedError("fake");
}

TableStats MapTable::Stats() const {
  TableStats stats;
  stats.num_rows = rows_.size();
  return stats;
}

TableSpec MapTableSpec(uint32_t dim, uint64_t rows) {
  TableSpec spec;
  spec.name = "map";
  spec.dim = dim;
  spec.tiers.emplace_back().rows = rows;
  return spec;
}

}  // namespace gatherd
