// What one batch of lookups needs: a stream and counters on each device, and
// pinned memory for keys that kernels cannot read where they are and for rows
// that cannot go straight to the reply. Serves one batch at a time and is used
// again; takes no memory once made.
//
// A batch is filled and launched by one thread and ended by another: the
// LookupEngine hands it from one to the other under its mutex.
#ifndef GATHERD_CORE_GPU_LOOKUP_CONTEXT_H_
#define GATHERD_CORE_GPU_LOOKUP_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/device_index.h"
#include "core/cuda/pinned_buffer.h"
#include "core/exec/chunk_queue.h"
#include "core/gpu/device_lane.h"
#include "core/gpu/gpu_node.h"
#include "core/gpu/launch_gate.h"
#include "core/gpu/table_state.h"
#include "core/kernels/lookup.h"
#include "core/table/batch.h"
#include "core/table/epoch.h"

namespace gatherd {

// What the engine cuts lookups into: chunks of 8 Ki rows of up to 512 bytes,
// so that nobody waits long behind one, and of few enough segments for three to
// go into one launch.
inline constexpr uint64_t kLookupChunkWork = uint64_t{8} << 10;
inline constexpr size_t kLookupChunkSegments = 48;
static_assert(3 * kLookupChunkSegments <= kernels::kMaxSegments);

// Rows that the kernels of a device have read, from its own memory and from
// that of others.
struct RowReads {
  uint64_t local = 0;
  uint64_t remote = 0;
};

class LookupContext {
 public:
  // Batches that are not split run on `home`, but for self-tests of another.
  static absl::StatusOr<std::unique_ptr<LookupContext>> Create(
      GpuNode& node, DeviceIndex home);
  LookupContext(const LookupContext&) = delete;
  LookupContext& operator=(const LookupContext&) = delete;

  DeviceIndex home() const { return home_; }
  GateReader& gate_reader() { return *gate_reader_; }

  // Whether any chunk of a LookupEngine's queue fits beside those that are here
  // already, and should join them.
  bool TakesMore() const;
  // The tables of its segments are GpuTables of the node.
  void Add(const ChunkQueue::Task& task);
  const std::vector<ChunkQueue::Task>& tasks() const { return tasks_; }

  // Copies keys that are not in reply memory and starts the kernels. On an
  // error nothing runs that would write to a reply.
  absl::Status Launch();

  // Whether everything is written. From any thread.
  bool IsDone() const;
  // OK while IsDone may still become true.
  absl::Status CheckDevices() const;

  // After IsDone: brings results, missing bits and staged rows to where the
  // jobs want them. The result of tasks()[i] goes to part(i) if it is part of a
  // segment.
  void Collect();
  const LookupResult& part(size_t i) const { return parts_[i]; }
  RowReads row_reads(DeviceIndex device) const;

  // Ready for another batch.
  void Reset();

 private:
  // A segment, or part of one, in the batch.
  struct Piece {
    size_t task = 0;
    LookupSegment* segment = nullptr;
    TableState* state = nullptr;
    size_t first_key = 0;  // of the segment
    size_t num_keys = 0;
    size_t first_row = 0;
    size_t num_rows = 0;
    uint64_t revision = 0;
    int launched = -1;            // among the kernel's segments; -1: empty
    size_t first_word = 0;        // of missing words
    std::byte* staged = nullptr;  // rows to be copied to the reply
  };

  LookupContext(GpuNode& node, DeviceIndex home)
      : node_(node), home_(home), device_(home) {}
  absl::Status Initialize();

  void AddPieces(size_t task);
  void StagePiece(Piece& piece, kernels::LookupSegment* launched);
  // In the node's reply memory, which kernels read and write.
  bool IsPinned(const void* memory) const;
  // The elements where a kernel can read them: there, or copied to `staged`.
  template <typename T>
  const T* Reachable(const T* elements, size_t count, T* staged);
  // The same for offsets of bags, from the piece's first key on.
  const uint32_t* OffsetsOf(const Piece& piece);
  absl::Status LaunchOn(DeviceLane& lane, int32_t only_shard);
  bool ShouldSplit() const;
  bool Uses(const DeviceLane& lane) const {
    return is_split_ || lane.index() == device_;
  }
  void CollectMissing(const Piece& piece);
  LookupResult ResultOf(const Piece& piece) const;

  GpuNode& node_;
  const DeviceIndex home_;
  std::vector<DeviceLane> lanes_;  // one a device
  std::optional<GateReader> gate_reader_;
  std::optional<PinnedBuffer> keys_;     // int64_t
  std::optional<PinnedBuffer> weights_;  // float
  std::optional<PinnedBuffer> offsets_;  // uint32_t
  std::optional<PinnedBuffer> rows_;     // for other memory than replies'

  // Of the batch.
  std::vector<ChunkQueue::Task> tasks_;
  std::vector<LookupResult> parts_;  // one a task
  std::vector<Piece> pieces_;
  std::vector<kernels::LookupSegment> launched_;
  std::vector<DenseWindow*> windows_;
  std::optional<EpochGuard> epoch_;
  DeviceIndex device_;  // if not split
  bool has_pooling_ = false;
  bool is_split_ = false;
  size_t num_keys_ = 0;
  size_t num_offsets_ = 0;
  size_t num_words_ = 0;
  size_t staged_bytes_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace gatherd

#endif  // GATHERD_CORE_GPU_LOOKUP_CONTEXT_H_
