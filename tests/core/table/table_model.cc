#include "tests/core/table/table_model.h"

#include <set>

#include "testing/reference_rows.h"

namespace gatherd {

TableModel::TableModel(const TableSpec& spec)
    : spec_(spec),
      default_row_(ReferenceFromFloats(
          std::vector<float>(spec.dim, spec.default_value), spec.data_type)) {}

bool TableModel::InRange(int64_t key) const {
  return spec_.key_space == KeySpace::kHashed ||
         (key >= 0 && static_cast<uint64_t>(key) < spec_.rows());
}

bool TableModel::Has(int64_t key) const {
  return spec_.key_space == KeySpace::kDense ? InRange(key)
                                             : rows_.count(key) != 0;
}

const TableModel::Row& TableModel::RowOf(int64_t key) const {
  const auto row = rows_.find(key);
  return row == rows_.end() ? default_row_ : row->second;
}

uint64_t TableModel::num_rows() const {
  return spec_.key_space == KeySpace::kDense ? spec_.rows() : rows_.size();
}

UpdateResult TableModel::Update(const UpdateBatch& batch) {
  UpdateResult result;
  std::set<int64_t> updated;
  std::set<int64_t> inserted;
  std::set<int64_t> skipped;
  const size_t dim = spec_.dim;
  for (size_t i = 0; i < batch.keys.size(); ++i) {
    const int64_t key = batch.keys[i];
    const std::byte* value =
        batch.values + i * RowBytes(batch.data_type, spec_.dim);
    if (!InRange(key) ||
        (batch.mode == UpdateMode::kSetExisting && !Has(key))) {
      skipped.insert(key);
      continue;
    }
    if (inserted.count(key) == 0) (Has(key) ? updated : inserted).insert(key);
    if (batch.mode != UpdateMode::kAdd) {
      rows_[key] =
          ReferenceConvert(value, batch.data_type, spec_.data_type, dim);
    }
  }
  if (batch.mode == UpdateMode::kAdd) {
    // Each key adds up all its values in float32 before it is converted.
    std::map<int64_t, std::vector<float>> sums;
    for (size_t i = 0; i < batch.keys.size(); ++i) {
      const int64_t key = batch.keys[i];
      if (!InRange(key)) continue;
      auto [sum, is_first] = sums.try_emplace(key);
      if (is_first) {
        sum->second =
            ReferenceToFloats(RowOf(key).data(), spec_.data_type, dim);
      }
      const auto value = ReferenceToFloats(
          batch.values + i * RowBytes(batch.data_type, spec_.dim),
          batch.data_type, dim);
      for (size_t j = 0; j < dim; ++j) sum->second[j] += value[j];
    }
    for (const auto& [key, sum] : sums) {
      rows_[key] = ReferenceFromFloats(sum, spec_.data_type);
    }
  }
  result.num_updated = updated.size();
  result.num_inserted = inserted.size();
  result.num_skipped = skipped.size();
  if (!batch.keys.empty()) ++revision_;
  result.revision = revision_;
  return result;
}

EraseResult TableModel::Erase(absl::Span<const int64_t> keys) {
  EraseResult result;
  const std::set<int64_t> distinct(keys.begin(), keys.end());
  for (const int64_t key : distinct) {
    result.num_erased += Has(key) ? 1 : 0;
    rows_.erase(key);
  }
  if (!keys.empty()) ++revision_;
  result.revision = revision_;
  return result;
}

std::vector<std::byte> TableModel::Lookup(const LookupBatch& batch) const {
  std::vector<std::byte> answer;
  const size_t dim = spec_.dim;
  if (batch.pooling == Pooling::kNone) {
    for (const int64_t key : batch.keys) {
      const Row row = ReferenceConvert(RowOf(key).data(), spec_.data_type,
                                       batch.output_type, dim);
      answer.insert(answer.end(), row.begin(), row.end());
    }
    return answer;
  }
  for (size_t bag = 0; bag < batch.offsets.size(); ++bag) {
    const size_t begin = batch.offsets[bag];
    const size_t end = bag + 1 < batch.offsets.size() ? batch.offsets[bag + 1]
                                                      : batch.keys.size();
    std::vector<const std::byte*> rows;
    std::vector<float> weights;
    for (size_t i = begin; i < end; ++i) {
      rows.push_back(RowOf(batch.keys[i]).data());
      if (!batch.weights.empty()) weights.push_back(batch.weights[i]);
    }
    const auto pool =
        batch.pooling == Pooling::kSum ? ReferenceSum : ReferenceMean;
    const Row row = ReferenceFromFloats(
        pool(rows, weights, spec_.data_type, dim), batch.output_type);
    answer.insert(answer.end(), row.begin(), row.end());
  }
  return answer;
}

uint64_t TableModel::NumNew(absl::Span<const UpdateBatch> batches) const {
  std::set<int64_t> fresh;
  for (const UpdateBatch& batch : batches) {
    if (batch.mode == UpdateMode::kSetExisting) continue;
    for (const int64_t key : batch.keys) {
      if (InRange(key) && !Has(key)) fresh.insert(key);
    }
  }
  return fresh.size();
}

}  // namespace gatherd
