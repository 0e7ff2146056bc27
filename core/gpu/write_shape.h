// What of a table decides how much memory its writes work in.
#ifndef GATHERD_CORE_GPU_WRITE_SHAPE_H_
#define GATHERD_CORE_GPU_WRITE_SHAPE_H_

#include <algorithm>
#include <cstdint>

#include "core/shard/gpu_layout.h"
#include "core/table/table_spec.h"

namespace gatherd {

struct WriteShape {
  uint32_t dim = 0;
  uint32_t num_keys = 0;     // the most of one step, duplicates included
  uint64_t value_bytes = 0;  // the most of one row of values, of any type
};

inline WriteShape ShapeOfWrites(const TableSpec& spec,
                                const GpuTableLayout& layout) {
  WriteShape shape;
  shape.dim = spec.dim;
  // As for the layout's step_keys, which bounds distinct keys.
  shape.value_bytes =
      std::max<uint64_t>(layout.row_stride, sizeof(float) * spec.dim);
  shape.num_keys = static_cast<uint32_t>(
      std::min(kMaxStepKeys, kMaxStepBytes / shape.value_bytes));
  return shape;
}

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_WRITE_SHAPE_H_
