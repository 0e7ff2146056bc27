// ADD: positions are sorted by key (by its slot in the table of distinct keys),
// so that the values of one key follow each other in the order of the request.
// A warp sums windows of 128 positions, a group of lanes a key; a key that
// crosses windows leaves partial sums, which a second launch adds up. No
// atomics: the order of the sums depends on the batch alone.
#include <cub/device/device_radix_sort.cuh>

#include "core/kernels/dedup_of.cuh"
#include "core/kernels/value_rows.cuh"
#include "core/kernels/write_rows.h"

namespace gatherd::kernels {
namespace {

constexpr uint32_t kWindow = 128;
constexpr int kWarpsPerBlock = kWriteThreads / kWarpSize;

uint32_t NumWindows(uint32_t num_keys) {
  return (num_keys + kWindow - 1) / kWindow;
}

struct AddParams {
  WriteBatch batch;
  const uint32_t* free_rows;
  const uint32_t* slots;  // sorted
  const uint32_t* positions;
  uint32_t no_slot;  // of keys of other shards; the greatest
};

__global__ void __launch_bounds__(kWriteThreads)
    SlotKernel(const __grid_constant__ WriteBatch batch, const DedupRef dedup,
               uint32_t no_slot) {
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  if (i >= batch.num_keys) return;
  const int64_t key = batch.keys[i];
  batch.workspace.sort_slots[0][i] =
      IsOwned(batch, key) ? dedup.SlotOf(key) : no_slot;
  batch.workspace.sort_positions[0][i] = i;
}

// False if the key has no row to be written.
__device__ __forceinline__ bool RowOfSlot(const AddParams& p, uint32_t slot,
                                          RowUpdate* update) {
  if (slot == p.no_slot) return false;
  const uint32_t position = p.batch.workspace.dedup[slot] - 1;
  const WriteTarget target = p.batch.workspace.targets[position];
  if (target.place == kNoPlace) return false;
  *update = RowUpdateOf(p.batch, target, position, p.free_rows);
  return true;
}

// The old row, if any, plus the values at places [begin, end) of the order, one
// after the other: to the bit what the CPU tables make of them.
struct AddSource {
  const AddParams& params;
  RowFormat values;
  RowFormat table;
  const char* old_row;  // or null
  float old_scale;
  uint32_t begin, end;

  __device__ void Load(unsigned p, bool active, float* v) const {
    if (!active) return;
    const uint64_t row_bytes = RowBytesOf(values.type, values.dim);
    const char* rows = static_cast<const char*>(params.batch.values);
    if (old_row != nullptr) table.Add(old_row, old_scale, p, v);
#pragma unroll 4
    for (uint32_t i = begin; i < end; i++) {
      const char* row = rows + params.positions[i] * row_bytes;
      values.Add(row, values.ScaleOf(row), p, v);
    }
  }
};

// Windows leave two partial sums: of the key that goes on from the window
// before, and of the one that begins here and goes on in the next.
__device__ __forceinline__ float* PartialSum(const AddParams& p,
                                             uint32_t window, bool begins) {
  return p.batch.workspace.partial_sums +
         (uint64_t{window} * 2 + begins) * NumOctets(p.batch.dim) * kOctet;
}

__device__ __forceinline__ void SumPiece(const AddParams& p, uint32_t window,
                                         uint32_t begin, uint32_t end,
                                         bool live, unsigned lanes) {
  const WriteBatch& b = p.batch;
  const uint32_t slot = live ? p.slots[begin] : p.no_slot;
  const bool begins = live && (begin == 0 || p.slots[begin - 1] != slot);
  const bool ends = live && (end == b.num_keys || p.slots[end] != slot);
  RowUpdate update = {nullptr, nullptr};
  live = live && RowOfSlot(p, slot, &update);
  const bool whole = live && begins && ends;
  const bool partial = live && !whole;
  const RowFormat table = TableFormat(b);
  const char* old_row = whole ? update.old_row : nullptr;
  const AddSource source = {p,
                            ValueFormat(b),
                            table,
                            old_row,
                            old_row != nullptr ? table.ScaleOf(old_row) : 0,
                            begin,
                            end};
  // The groups of a warp may differ: those that write rows go first.
  StoreFloats(source, table, update.row, whole, lanes);
  if (__any_sync(kFullWarp, partial)) {
    const RowFormat sums = {ElementType::kFloat32, b.dim, 16};
    char* to = reinterpret_cast<char*>(PartialSum(p, window, begins));
    StoreFloats(source, sums, to, partial, lanes);
  }
}

__global__ void __launch_bounds__(kWriteThreads)
    SumKernel(const __grid_constant__ AddParams p) {
  __shared__ uint32_t starts[kWarpsPerBlock][kWindow + 1];
  const unsigned lane = threadIdx.x % kWarpSize;
  uint32_t* start = starts[threadIdx.x / kWarpSize];
  const uint32_t window = blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarpSize;
  const uint64_t first = uint64_t{window} * kWindow;
  if (first >= p.batch.num_keys) return;
  const uint32_t end =
      min(static_cast<uint32_t>(first) + kWindow, p.batch.num_keys);
  uint32_t num_pieces = 0;
  for (uint32_t base = first; base < end; base += kWarpSize) {
    const uint32_t i = base + lane;
    const bool begins = i < end && (i == first || p.slots[i] != p.slots[i - 1]);
    const unsigned all = __ballot_sync(kFullWarp, begins);
    if (begins) start[num_pieces + __popc(all & ((1u << lane) - 1))] = i;
    num_pieces += __popc(all);
  }
  if (lane == 0) start[num_pieces] = end;
  __syncwarp();
  const unsigned lanes = LanesPerRow(p.batch.dim);
  for (uint32_t base = 0; base < num_pieces; base += kWarpSize / lanes) {
    const uint32_t piece = base + lane / lanes;
    const bool live = piece < num_pieces;
    SumPiece(p, window, start[live ? piece : 0], start[live ? piece + 1 : 1],
             live, lanes);
  }
}

// The old row plus partial sums: the one of the window where the key begins,
// and those of all windows that it goes on into, dealt to the groups of a warp.
struct FoldSource {
  const AddParams& params;
  RowFormat table;
  const char* old_row;
  float old_scale;
  uint32_t first_window, last_window;
  unsigned lanes;

  __device__ void Load(unsigned p, bool active, float* v) const {
    const RowFormat sums = {ElementType::kFloat32, table.dim, 16};
    const unsigned group = threadIdx.x % kWarpSize / lanes;
    const bool reads = p < NumOctets(table.dim);
    if (reads && group == 0) {
      sums.Add(Partial(first_window, true), 0, p, v);
    }
#pragma unroll 4
    for (uint32_t w = first_window + 1 + group; reads && w <= last_window;
         w += kWarpSize / lanes) {
      sums.Add(Partial(w, false), 0, p, v);
    }
    for (unsigned d = lanes; d < kWarpSize; d *= 2) {
#pragma unroll
      for (unsigned i = 0; i < kOctet; i++) {
        v[i] += __shfl_xor_sync(kFullWarp, v[i], d);
      }
    }
    if (active) table.Add(old_row, old_scale, p, v);
  }

  __device__ const char* Partial(uint32_t window, bool begins) const {
    return reinterpret_cast<const char*>(PartialSum(params, window, begins));
  }
};

// Whether the key at the end of a window goes on in the next.
__device__ __forceinline__ bool GoesOn(const AddParams& p, uint32_t window) {
  const uint64_t end = (uint64_t{window} + 1) * kWindow;
  return end < p.batch.num_keys && p.slots[end] == p.slots[end - 1];
}

__global__ void __launch_bounds__(kWriteThreads)
    FoldKernel(const __grid_constant__ AddParams p, uint32_t num_windows) {
  const unsigned lane = threadIdx.x % kWarpSize;
  const uint32_t window = blockIdx.x * kWarpsPerBlock + threadIdx.x / kWarpSize;
  if (window >= num_windows || !GoesOn(p, window)) return;
  const uint32_t slot = p.slots[uint64_t{window} * kWindow + kWindow - 1];
  const bool begins_here =
      window == 0 || p.slots[uint64_t{window} * kWindow - 1] != slot;
  if (!begins_here) return;
  RowUpdate update;
  if (!RowOfSlot(p, slot, &update)) return;
  // The last window that the key reaches.
  uint32_t last = window + 1;
  for (;;) {
    const uint32_t w = last + lane;
    const bool goes_on = w < num_windows && GoesOn(p, w) &&
                         p.slots[uint64_t{w} * kWindow + kWindow - 1] == slot;
    const unsigned stops = ~__ballot_sync(kFullWarp, goes_on);
    if (stops != 0) {
      last += __ffs(stops) - 1;
      break;
    }
    last += kWarpSize;
  }
  const unsigned lanes = LanesPerRow(p.batch.dim);
  const RowFormat table = TableFormat(p.batch);
  const FoldSource source = {
      p,      table, update.old_row, table.ScaleOf(update.old_row),
      window, last,  lanes};
  StoreFloats(source, table, update.row, lane < lanes, lanes);
}

// The slot of keys of other shards: the greatest.
uint32_t NoSlot(const DedupRef& dedup) { return dedup.mask + 1; }

int NumSlotBits(uint32_t no_slot) {
  int bits = 1;
  while ((no_slot >> bits) != 0) bits++;
  return bits;
}

}  // namespace

uint64_t NumPartialSums(uint32_t num_keys) {
  return uint64_t{2} * NumWindows(num_keys);
}

uint64_t AddSortBytes(uint32_t num_keys) {
  size_t num_bytes = 0;
  const uint32_t* keys = nullptr;
  uint32_t* sorted = nullptr;
  // Asked for a size, it fails only where there is no device at all.
  if (cub::DeviceRadixSort::SortPairs(nullptr, num_bytes, keys, sorted, keys,
                                      sorted, num_keys) != cudaSuccess) {
    return 0;
  }
  return num_bytes;
}

cudaError_t SortForAddAsync(const WriteBatch& batch, cudaStream_t stream) {
  const WriteWorkspace& w = batch.workspace;
  const DedupRef dedup = DedupOf(batch);
  const uint32_t no_slot = NoSlot(dedup);
  SlotKernel<<<WriteBlocks(batch.num_keys), kWriteThreads, 0, stream>>>(
      batch, dedup, no_slot);
  size_t scratch_bytes = w.sort_scratch_bytes;
  return cub::DeviceRadixSort::SortPairs(
      w.sort_scratch, scratch_bytes, w.sort_slots[0], w.sort_slots[1],
      w.sort_positions[0], w.sort_positions[1], batch.num_keys, 0,
      NumSlotBits(no_slot), stream);
}

cudaError_t AddRowsAsync(const WriteBatch& batch, const uint32_t* free_rows,
                         cudaStream_t stream) {
  AddParams params;
  params.batch = batch;
  params.free_rows = free_rows;
  params.slots = batch.workspace.sort_slots[1];
  params.positions = batch.workspace.sort_positions[1];
  params.no_slot = NoSlot(DedupOf(batch));
  const uint32_t num_windows = NumWindows(batch.num_keys);
  const uint32_t num_blocks =
      (num_windows + kWarpsPerBlock - 1) / kWarpsPerBlock;
  SumKernel<<<num_blocks, kWriteThreads, 0, stream>>>(params);
  FoldKernel<<<num_blocks, kWriteThreads, 0, stream>>>(params, num_windows);
  return cudaGetLastError();
}

}  // namespace gatherd::kernels
