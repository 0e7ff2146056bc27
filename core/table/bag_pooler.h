// Sums the rows of bags in float32, in the order of keys, and converts each
// bag once, when it is complete.
#ifndef GATHERD_CORE_TABLE_BAG_POOLER_H_
#define GATHERD_CORE_TABLE_BAG_POOLER_H_

#include <cstddef>
#include <cstdint>

#include "core/base/data_type.h"
#include "core/rows/row_kernels.h"
#include "core/table/batch.h"
#include "core/table/table_spec.h"

namespace gatherd {

// One pooled lookup's state; 32 KiB, made for the stack.
class BagPooler {
 public:
  // `out`: one row of the batch's output type a bag.
  BagPooler(const TableSpec& spec, const LookupBatch& batch, std::byte* out);

  // The row of the next key.
  void Add(const std::byte* row);

  // After the last key.
  void Finish();

 private:
  void BeginBag();
  void EndBag();
  size_t BagEnd() const;  // a position, of the current bag

  const LookupBatch& batch_;
  const size_t dim_;
  const size_t out_bytes_;
  const AddRowFn add_;
  const AddWeightedRowFn add_weighted_;
  const ConvertRowFn convert_;
  std::byte* out_;        // of the current bag
  size_t position_ = 0;   // of the next key
  size_t bag_ = 0;        // the current one
  size_t num_rows_ = 0;   // of the current bag so far
  float weight_sum_ = 0;  // of the current bag so far
  alignas(64) float sum_[kMaxDim];
};

}  // namespace gatherd

#endif  // GATHERD_CORE_TABLE_BAG_POOLER_H_
