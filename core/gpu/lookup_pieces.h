// What the chunks of a batch ask the kernels for: pieces, each a table's part
// of a request or a part of that, the segments that kernels get for them, and
// pinned memory for keys that kernels cannot read where they are and for rows
// that cannot go straight to the reply. Serves one batch at a time and is used
// again; takes no memory once made. One thread at a time.
#ifndef GATHERD_CORE_GPU_LOOKUP_PIECES_H_
#define GATHERD_CORE_GPU_LOOKUP_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/device_index.h"
#include "core/cuda/pinned_buffer.h"
#include "core/exec/chunk_queue.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/table_state.h"
#include "core/kernels/lookup.h"

namespace gatherd {

// What the engine cuts lookups into: chunks of 8 Ki rows of up to 512 bytes,
// so that nobody waits long behind one, and of few enough segments for three to
// go into one launch.
inline constexpr uint64_t kLookupChunkWork = uint64_t{8} << 10;
inline constexpr size_t kLookupChunkSegments = 48;
static_assert(3 * kLookupChunkSegments <= kernels::kMaxSegments);
// A context has room for as much in one batch, and for a bag of max_bag_keys.
inline constexpr uint64_t kMaxWholeWork = 2 * kLookupChunkWork;

struct LookupPiece {
  size_t task = 0;
  LookupSegment* segment = nullptr;
  TableState* state = nullptr;
  size_t first_key = 0;  // of the segment
  size_t num_keys = 0;
  size_t first_row = 0;
  size_t num_rows = 0;
  // Where its own stand among those of the batch.
  size_t keys_at = 0;
  size_t offsets_at = 0;
  size_t words_at = 0;          // of missing bits
  std::byte* staged = nullptr;  // rows to be copied to the reply
  // Set by Stage.
  uint64_t revision = 0;
  int launched = -1;  // among the kernels' segments; -1: empty
};

class LookupPieces {
 public:
  // Pinned for batches that run on `home`.
  static absl::StatusOr<LookupPieces> Create(GpuNode& node, DeviceIndex home);

  // Whether any chunk of a LookupEngine's queue fits beside what is here.
  bool TakesMore() const;
  // The tables of its segments are GpuTables of the node.
  void Add(size_t task, const ChunkQueue::Task& chunk);

  // Copies what kernels cannot reach and makes their segments, of which tables
  // and missing words are left to be set for each device.
  void Stage();

  const std::vector<LookupPiece>& pieces() const { return pieces_; }
  std::vector<kernels::LookupSegment>& launched() { return launched_; }
  const std::vector<kernels::LookupSegment>& launched() const {
    return launched_;
  }
  size_t num_keys() const { return num_keys_; }
  size_t num_words() const { return num_words_; }
  bool has_pooling() const { return num_offsets_ != 0; }

  // Of the piece, if they were staged, to the reply.
  static void CopyRows(const LookupPiece& piece);

  void Clear();

 private:
  LookupPieces(GpuNode& node, PinnedBuffer keys, PinnedBuffer weights,
               PinnedBuffer offsets, PinnedBuffer rows);

  // In the node's reply memory, which kernels read and write.
  bool IsPinned(const void* memory) const;
  // The elements where a kernel can read them: there, or copied to `staged`.
  template <typename T>
  const T* Reachable(const T* elements, size_t count, T* staged) const;
  // The same for offsets of bags, from the piece's first key on.
  const uint32_t* OffsetsOf(const LookupPiece& piece) const;
  kernels::LookupSegment SegmentOf(const LookupPiece& piece) const;

  GpuNode* node_;
  PinnedBuffer keys_;     // int64_t
  PinnedBuffer weights_;  // float
  PinnedBuffer offsets_;  // uint32_t
  PinnedBuffer rows_;     // for other memory than replies'

  // Of the batch.
  std::vector<LookupPiece> pieces_;
  std::vector<kernels::LookupSegment> launched_;
  size_t num_keys_ = 0;
  size_t num_offsets_ = 0;
  size_t num_words_ = 0;
  size_t staged_bytes_ = 0;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_LOOKUP_PIECES_H_
