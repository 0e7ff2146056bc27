// Divides a batch into its launches: one for the segments without pooling and
// one for those of each table type with it. Most batches are one launch, and a
// second to report if they are large.
#include <algorithm>

#include "core/kernels/batch_params.cuh"
#include "core/kernels/lookup_launch.h"
#include "core/kernels/lookup_report.cuh"

namespace gatherd::kernels {
namespace {

__global__ void __launch_bounds__(kBlockThreads)
    ReportKernel(const ReportParams report) {
  SendReport<8>(report);
}

constexpr int kNumKinds = 5;  // no pooling, and pooling by element type

int KindOf(const LookupSegment& s) {
  return s.pooling == PoolingMode::kNone ? 0 : static_cast<int>(s.table_type);
}

cudaError_t LaunchKind(int kind, const LookupPart& part, cudaStream_t stream) {
  return kind == 0 ? LaunchLookupRows(part, stream)
                   : LaunchLookupBags(part, stream);
}

// Into how many slices each segment is cut whose slices take turns: as many as
// the next size of parameters holds.
int SlicesFor(int num_segments) {
  const int capacity =
      num_segments * 2 <= kFewSegments ? kFewSegments : kMaxSegments;
  return capacity / num_segments;
}

enum class Order { kSegments, kSlices };

cudaError_t Launch(const LookupBatch& batch, Order order, cudaStream_t stream) {
  if (batch.num_segments < 1 || batch.num_segments > kMaxSegments) {
    return cudaErrorInvalidValue;
  }
  if (batch.done != nullptr) {
    std::fill_n(batch.host_counters, batch.num_segments, LookupCounters());
  }
  int num_of_kind[kNumKinds] = {};
  for (int i = 0; i < batch.num_segments; i++) {
    num_of_kind[KindOf(batch.segments[i])]++;
  }
  int last_kind = kNumKinds - 1;
  while (num_of_kind[last_kind] == 0) last_kind--;
  for (int kind = 0; kind <= last_kind; kind++) {
    if (num_of_kind[kind] == 0) continue;
    LookupPart part;
    part.batch = &batch;
    part.is_last = kind == last_kind;
    for (int i = 0; i < batch.num_segments; i++) {
      if (KindOf(batch.segments[i]) == kind) {
        part.indices[part.num_segments++] = i;
      }
    }
    if (order == Order::kSlices) part.num_slices = SlicesFor(part.num_segments);
    const cudaError_t error = LaunchKind(kind, part, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t LaunchReport(const ReportParams& report, cudaStream_t stream) {
  ReportKernel<<<1, kBlockThreads, 0, stream>>>(report);
  return cudaGetLastError();
}

cudaError_t LaunchLookup(const LookupBatch& batch, cudaStream_t stream) {
  return Launch(batch, Order::kSegments, stream);
}

cudaError_t LaunchPush(const LookupBatch& batch, cudaStream_t stream) {
  if (batch.only_shard == kAllShards) return cudaErrorInvalidValue;
  return Launch(batch, Order::kSlices, stream);
}

}  // namespace gatherd::kernels
