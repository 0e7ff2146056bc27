// The part of gpu_scale_bench that asks the engine, not its kernels: writes,
// and lookups beside them. On any CUDA, so that a test runs it on the fake.
#ifndef GATHERD_TESTS_BENCH_GPU_SCALE_NODE_H_
#define GATHERD_TESTS_BENCH_GPU_SCALE_NODE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/cuda/cuda_api.h"
#include "core/cuda/device_id.h"
#include "core/kernels/kernel_api.h"
#include "core/table/table_spec.h"

namespace gatherd {

struct ScaleShape {
  uint64_t rows_per_device = uint64_t{2} << 20;
  uint32_t dim = 64;
  size_t write_keys = size_t{1} << 20;   // of one write that fills or erases
  size_t block_keys = size_t{64} << 10;  // of a file, and a device, at a time
  int num_small_writes = 2000;           // of call_keys, one after the other
  size_t call_keys = 1024;               // of a lookup, or a write beside them
  int num_callers = 8;
  absl::Duration duration = absl::Seconds(1);  // of lookups, with and without
};

// Name with unit, and value.
using ScaleFigures = std::vector<std::pair<std::string, double>>;

// Makes a node of one table on `devices` and measures it.
absl::StatusOr<ScaleFigures> MeasureNode(const CudaApi& api,
                                         const kernels::KernelApi& kernels,
                                         absl::Span<const DeviceId> devices,
                                         KeySpace key_space,
                                         const ScaleShape& shape);

}  // namespace gatherd

#endif  // GATHERD_TESTS_BENCH_GPU_SCALE_NODE_H_
