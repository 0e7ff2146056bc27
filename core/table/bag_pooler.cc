#include "core/table/bag_pooler.h"

#include <algorithm>

namespace gatherd {

BagPooler::BagPooler(const TableSpec& spec, const LookupBatch& batch,
                     std::byte* out)
    : batch_(batch),
      dim_(spec.dim),
      out_bytes_(RowBytes(batch.output_type, spec.dim)),
      add_(GetAddRow(spec.data_type)),
      add_weighted_(GetAddWeightedRow(spec.data_type)),
      convert_(GetConvertRow(DataType::kFloat32, batch.output_type)),
      out_(out) {
  BeginBag();
}

void BagPooler::Add(const std::byte* row) {
  while (position_ == BagEnd()) EndBag();
  if (batch_.weights.empty()) {
    add_(row, sum_, dim_);
  } else {
    const float weight = batch_.weights[position_];
    add_weighted_(row, weight, sum_, dim_);
    weight_sum_ += weight;
  }
  ++num_rows_;
  ++position_;
}

void BagPooler::Finish() {
  while (bag_ < batch_.offsets.size()) EndBag();
}

void BagPooler::BeginBag() {
  std::fill_n(sum_, dim_, 0.0f);
  num_rows_ = 0;
  weight_sum_ = 0;
}

void BagPooler::EndBag() {
  if (batch_.pooling == Pooling::kMean) {
    // Counted in integers: float32 stops at 2^24.
    const float divisor =
        batch_.weights.empty() ? static_cast<float>(num_rows_) : weight_sum_;
    if (divisor == 0) {
      std::fill_n(sum_, dim_, 0.0f);
    } else {
      DivideRow(sum_, divisor, dim_);
    }
  }
  convert_(reinterpret_cast<const std::byte*>(sum_), out_, dim_);
  out_ += out_bytes_;
  ++bag_;
  BeginBag();
}

size_t BagPooler::BagEnd() const {
  return bag_ + 1 < batch_.offsets.size() ? batch_.offsets[bag_ + 1]
                                          : batch_.keys.size();
}

}  // namespace gatherd
