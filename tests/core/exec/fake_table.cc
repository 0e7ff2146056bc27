#include "tests/core/exec/fake_table.h"

#include <cstring>

namespace gatherd {

FakeTable::FakeTable(uint32_t dim) {
  spec_.name = "fake";
  spec_.dim = dim;
  spec_.tiers.emplace_back();
}

float FakeTable::Element(int64_t key, uint32_t j) const {
  return IsMissing(key) ? -1.0f : static_cast<float>(key + j);
}

absl::StatusOr<LookupResult> FakeTable::Lookup(const LookupBatch& batch,
                                               const LookupOutput& output) {
  LookupResult result;
  result.revision = revision_.fetch_add(1) + 1;
  if (on_lookup) {
    absl::Status status = on_lookup(batch);
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < batch.keys.size(); ++i) {
    if (IsMissing(batch.keys[i])) {
      ++result.num_missing;
      output.missing[i / 8] =
          static_cast<uint8_t>(output.missing[i / 8] | (1u << (i % 8)));
    } else {
      ++result.tier_hits[0];
    }
  }
  const bool pooled = batch.pooling != Pooling::kNone;
  for (size_t row = 0; row < batch.num_output_rows(); ++row) {
    const size_t begin = pooled ? batch.offsets[row] : row;
    const size_t end = !pooled                          ? row + 1
                       : row + 1 < batch.offsets.size() ? batch.offsets[row + 1]
                                                        : batch.keys.size();
    for (uint32_t j = 0; j < spec_.dim; ++j) {
      float sum = 0;
      for (size_t i = begin; i < end; ++i) {
        const float weight = batch.weights.empty() ? 1.0f : batch.weights[i];
        sum += weight * Element(batch.keys[i], j);
      }
      std::memcpy(output.rows + (row * spec_.dim + j) * sizeof(float), &sum,
                  sizeof(float));
    }
  }
  return result;
}

absl::StatusOr<std::unique_ptr<PreparedUpdate>> FakeTable::PrepareUpdate(
    absl::Span<const UpdateBatch>) {
  return absl::UnimplementedError("fake");
}

absl::StatusOr<EraseResult> FakeTable::Erase(absl::Span<const int64_t>) {
  return absl::UnimplementedError("fake");
}

absl::StatusOr<uint64_t> FakeTable::Scan(const ScanVisitor&) {
  return absl::UnimplementedError("fake");
}

}  // namespace gatherd
