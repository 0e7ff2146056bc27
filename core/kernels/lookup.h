// Answers a batch of lookups of any tables: one launch for all segments without
// pooling, and one for those of each table type with it; one more reports, if
// the last of these is large.
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
  // Bit (i & 31) of word (i >> 5) is set where key i is missing:
  // ceil(num_keys / 32) words among the batch's `missing_words`.
  uint32_t* missing = nullptr;
  uint32_t num_keys = 0;
  uint32_t num_bags = 0;
  uint32_t dim = 0;
  ElementType table_type = ElementType::kFloat32;
  ElementType output_type = ElementType::kFloat32;
  PoolingMode pooling = PoolingMode::kNone;
};

// For LookupBatch::only_shard.
inline constexpr int32_t kAllShards = -1;

// What is counted of a segment.
struct LookupCounters {
  uint32_t num_missing;  // keys that read the default row
  // Found keys whose row this GPU owns, and others. Both stay 0 for tables of
  // one shard, where every found key is local.
  uint32_t num_local;
  uint32_t num_remote;
};

// Kernel parameters hold this many segments; a batch of more takes several
// calls.
inline constexpr int kMaxSegments = 160;

struct LookupBatch {
  const LookupSegment* segments = nullptr;  // host memory, copied by the launch
  int num_segments = 0;                     // 1 ... kMaxSegments
  // kAllShards, or the one shard whose keys this batch answers and counts,
  // every other row of the output being left alone: a shard of the GPU that
  // runs it, and each GPU of the node gets the same batch for its own. A key
  // that no shard can have (out of a dense table's range) is shard 0's. Pooled
  // segments: kAllShards only.
  int32_t only_shard = kAllShards;
  int32_t this_shard = 0;  // the shard of the GPU that runs it, for counters
  // The launching thread may read all keys, too (pinned memory). Those of small
  // batches then travel with the launch.
  bool keys_on_host = false;

  // Device memory that one batch at a time uses. Zero before the batch; left
  // zero if `done` is not null and no launch failed.
  LookupCounters* counters = nullptr;  // one a segment; null: not counted
  uint32_t* missing_words = nullptr;   // those of all segments
  uint32_t num_missing_words = 0;
  uint32_t* blocks_left = nullptr;  // one word

  // The report, in pinned host memory that belongs to this GPU's run of the
  // batch: complete once `sequence` is read from `done` (acquire), as are the
  // outputs. Nothing else need be copied, zeroed or waited for. If `done` is
  // null, there is none, and the device's words stay as they come to be; else
  // `counters`, `blocks_left` and the two below must be set.
  volatile uint64_t* done = nullptr;
  uint64_t sequence = 0;
  LookupCounters* host_counters = nullptr;  // num_segments; zeroed by the call
  // num_missing_words, written only if some num_missing is not 0.
  uint32_t* host_missing = nullptr;
};

cudaError_t LaunchLookup(const LookupBatch& batch, cudaStream_t stream);

// One owner's part, `only_shard`, in batches that several GPUs ask for at once
// with results on the GPUs: stores the rows that this GPU owns into the memory
// of those who asked. Segments are those of all askers, with keys and outputs
// in memory that this GPU reaches; every GPU is launched with the same ones.
//
// Keys and rows alone go over NVLink, no index, and hot rows are read where
// they are. The other way, LaunchLookup of all shards by each asker, is as fast
// for uniform keys of a dense table, and better where one GPU asks while the
// others are busy; else this is (docs/gpu_engine.md).
//
// Blocks for all segments take turns, as rows of one may go to this GPU's
// memory and those of another over the link.
cudaError_t LaunchPush(const LookupBatch& batch, cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_H_
