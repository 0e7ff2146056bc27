// Answers a batch of lookups of any tables: one launch for all segments without
// pooling, and one for those of each table type with it.
//
// Keys, weights, offsets and outputs may lie in device memory or in pinned host
// memory; both are addressed alike. All launches are asynchronous; an error is
// that of the launch alone. Shapes have been checked by the caller; keys need
// no check: one out of range, or absent, reads the default row.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_H_
#define GATHERD_CORE_KERNELS_LOOKUP_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/kernels/table_ref.h"

namespace gatherd::kernels {

// The numbers are those of gatherd::DataType and gatherd::Pooling.
enum class ElementType : uint8_t {
  kFloat32 = 1,
  kFloat16 = 2,
  kBFloat16 = 3,
  kInt8 = 4,
};
enum class PoolingMode : uint8_t { kNone, kSum, kMean };

// One table's part of a batch.
struct LookupSegment {
  TableRef table;
  const int64_t* keys = nullptr;      // num_keys
  const uint32_t* offsets = nullptr;  // num_bags; pooling only
  const float* weights = nullptr;     // num_keys, or null; pooling only
  // num_keys or num_bags rows of RowBytes(output_type, dim), without padding.
  // Aligned to 16 bytes.
  void* output = nullptr;
  // Bit (i & 31) of word (i >> 5) is set where key i is missing: device
  // memory, ceil(num_keys / 32) words, zero before the launch.
  uint32_t* missing = nullptr;
  uint32_t num_keys = 0;
  uint32_t num_bags = 0;
  uint32_t dim = 0;
  ElementType table_type = ElementType::kFloat32;
  ElementType output_type = ElementType::kFloat32;
  PoolingMode pooling = PoolingMode::kNone;
};

// Which keys this launch answers.
inline constexpr int32_t kAllShards = -1;

// What a launch counts, per segment, in device memory; zero before the launch.
struct LookupCounters {
  uint32_t num_missing;
  uint32_t num_local;  // keys whose row this GPU owns
  uint32_t num_remote;
};

// Kernel parameters hold this many segments; a batch of more takes several
// launches.
inline constexpr int kMaxSegments = 192;

struct LookupBatch {
  const LookupSegment* segments = nullptr;  // host memory, copied by the launch
  int num_segments = 0;                     // 1 ... kMaxSegments
  // kAllShards, or the one shard whose rows this launch writes, every other
  // row of the output being left alone. Pooled segments: kAllShards only.
  int32_t only_shard = kAllShards;
  int32_t this_shard = 0;  // the shard of the GPU that runs it, for counters
  LookupCounters* counters = nullptr;  // one a segment, or null
  // Which of `counters` is a segment's; null: its own place in the batch.
  const int* segment_indices = nullptr;
  // Once everything is written, `sequence` is stored here (pinned host memory,
  // release, system scope). Null: not wanted.
  volatile uint64_t* done = nullptr;
  uint64_t sequence = 0;
  uint32_t* blocks_left = nullptr;  // device memory, zero; left zero
};

cudaError_t LaunchLookup(const LookupBatch& batch, cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_H_
