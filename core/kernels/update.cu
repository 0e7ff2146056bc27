// Finding, reserving, undoing, publishing and erasing: one thread a key, blocks
// of 256. Finding moves 8 bytes of keys, 128 of the index (1.13 lines at load
// 0.9) and 16 of targets a key; publishing a 16-byte store in a random sector.
#include "core/kernels/update.h"

#include "core/kernels/dedup_of.cuh"
#include "core/kernels/find_entry.cuh"
#include "core/kernels/insert.cuh"
#include "core/kernels/stamp.h"
#include "core/kernels/write_rows.h"

namespace gatherd::kernels {
namespace {

__global__ void __launch_bounds__(kWriteThreads)
    FindKernel(const __grid_constant__ WriteBatch batch, const DedupRef dedup) {
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  const bool live = i < batch.num_keys;
  const int64_t key = live ? batch.keys[i] : 0;
  const bool wanted = live && IsOwned(batch, key) && dedup.IsLast(i, key);
  FoundEntry found;
  if (batch.table.index != nullptr) {
    found = FindEntries(batch.table, ShardIndex(batch), key, wanted,
                        threadIdx.x % kWarpSize);
  } else {
    const bool in_range = FindDense(batch.table, key).shard != kNoShard;
    found = {in_range ? 0 : kAbsentPlace, 0};
  }
  const bool exists = wanted && found.place != kAbsentPlace;
  const bool absent = wanted && found.place == kAbsentPlace;
  const bool inserts =
      batch.table.index != nullptr && batch.mode != WriteMode::kSetExisting;
  const uint32_t rank = CountInBlock(exists, &batch.counters->num_existing);
  if (__syncthreads_or(absent)) {
    CountInBlock(absent, inserts ? &batch.counters->num_absent
                                 : &batch.counters->num_skipped);
  }
  if (!live) return;
  WriteTarget target = {kNoPlace, 0, 0, 0};
  if (exists) target = {found.place, found.row, rank, 0};
  if (absent && inserts) target = {kAbsentPlace, kNewRow, 0, 0};
  batch.workspace.targets[i] = target;
}

__global__ void __launch_bounds__(kWriteThreads)
    ReserveKernel(const __grid_constant__ WriteBatch batch) {
  if (batch.counters->num_absent == 0) return;
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  WriteTarget* target = batch.workspace.targets + i;
  const bool absent = i < batch.num_keys && target->place == kAbsentPlace;
  if (!__syncthreads_or(absent)) return;
  IndexEntry* shard = ShardIndex(batch);
  IndexEntry* entry = nullptr;
  if (absent) {
    const int64_t key = batch.keys[i];
    entry = InsertKey(batch.table, shard, PlaceOf(key, batch.table), key, 0,
                      kFilling);
  }
  const uint32_t rank =
      CountInBlock(entry != nullptr, &batch.counters->num_inserted);
  if (!absent) return;
  if (entry == nullptr) {
    atomicAdd(&batch.counters->num_failed, 1u);
    target->place = kNoPlace;
  } else {
    *target = {static_cast<uint32_t>(entry - shard), kNewRow, rank, 0};
  }
}

// The entry of a key that has moved to its second bucket since its place was
// written down, to make room for another.
__device__ __forceinline__ IndexEntry* MovedEntry(IndexEntry* shard,
                                                  const KeyPlace& place,
                                                  int64_t key, uint32_t state) {
  const uint32_t at = FindInBucket(shard, place.second, key, state);
  if (at == kAbsentPlace) __trap();  // somebody else wrote the index
  return shard + at;
}

__global__ void __launch_bounds__(kWriteThreads)
    UndoKernel(const __grid_constant__ WriteBatch batch) {
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  if (i >= batch.num_keys) return;
  const WriteTarget target = batch.workspace.targets[i];
  if (target.place == kNoPlace || target.row != kNewRow) return;
  IndexEntry* shard = ShardIndex(batch);
  const int64_t key = batch.keys[i];
  const KeyPlace place = PlaceOf(key, batch.table);
  IndexEntry* entry = shard + target.place;
  const IndexEntry e = LoadEntry(entry);
  if (e.key != key || (e.meta & kStateMask) != kFilling) {
    entry = MovedEntry(shard, place, key, kFilling);
  }
  RemoveKey(shard, entry, place);
}

// Names `row` in the entry of a key. Nobody else writes the entry meanwhile:
// a store is enough, but an overflow count in it must be kept.
__device__ __forceinline__ void PublishEntry(const WriteBatch& batch,
                                             const WriteTarget& target,
                                             int64_t key, uint32_t row) {
  IndexEntry* shard = ShardIndex(batch);
  IndexEntry* entry = shard + target.place;
  // Where nothing was inserted, nothing has moved.
  const bool is_known =
      batch.counters->num_absent == 0 && target.place % kEntriesPerBucket != 0;
  IndexEntry old = {key, 0, kValid};
  if (!is_known) {
    const uint32_t state = target.row == kNewRow ? kFilling : kValid;
    old = LoadEntry(entry);
    if (old.key != key || (old.meta & kStateMask) != state) {
      entry = MovedEntry(shard, PlaceOf(key, batch.table), key, state);
      old = LoadEntry(entry);
    }
  }
  StoreEntry(entry, Replacing(old, key, row, kValid));
}

// A write is a use of the row, which takes the uses of its old slot along.
__device__ __forceinline__ void StampRow(const WriteBatch& batch,
                                         const WriteTarget& target,
                                         uint32_t row) {
  volatile uint32_t* stamps = ShardStamps(batch);
  const bool is_new = target.row == kNewRow;
  const uint32_t old = is_new ? 0 : stamps[target.row];
  stamps[row] = StampOfUse(old, batch.table.now);
  if (!is_new) stamps[target.row] = 0;
}

__global__ void __launch_bounds__(kWriteThreads)
    PublishKernel(const __grid_constant__ WriteBatch batch,
                  const uint32_t* free_rows, uint32_t* retired) {
  // The rows, written by an earlier launch, come before the entries also for
  // the lookups of other GPUs.
  if (threadIdx.x == 0) FenceAcquireRelease();
  __syncthreads();
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  if (i >= batch.num_keys) return;
  const WriteTarget target = batch.workspace.targets[i];
  if (target.place == kNoPlace) return;
  const bool is_new = target.row == kNewRow;
  const uint32_t row =
      free_rows[target.rank + (is_new ? batch.counters->num_existing : 0)];
  if (batch.table.stamps != nullptr) StampRow(batch, target, row);
  PublishEntry(batch, target, batch.keys[i], row);
  if (!is_new) retired[target.rank] = target.row;
}

__global__ void __launch_bounds__(kWriteThreads)
    EraseKernel(const __grid_constant__ WriteBatch batch, uint32_t* retired) {
  const uint32_t i = blockIdx.x * kWriteThreads + threadIdx.x;
  if (i >= batch.num_keys) return;
  const WriteTarget target = batch.workspace.targets[i];
  if (target.place == kNoPlace) return;
  IndexEntry* shard = ShardIndex(batch);
  RemoveKey(shard, shard + target.place, PlaceOf(batch.keys[i], batch.table));
  retired[target.rank] = target.row;
  if (batch.table.stamps != nullptr) ShardStamps(batch)[target.row] = 0;
}

__global__ void __launch_bounds__(kWriteThreads)
    EraseDenseKernel(const __grid_constant__ WriteBatch batch) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t i = (blockIdx.x * kWriteThreads + threadIdx.x) / kWarpSize;
  if (i >= batch.num_keys) return;
  if (batch.workspace.targets[i].place == kNoPlace) return;
  int4* row = reinterpret_cast<int4*>(
      const_cast<char*>(FindDense(batch.table, batch.keys[i]).row));
  const int4* from = reinterpret_cast<const int4*>(batch.table.default_row);
  for (uint32_t p = lane; p < batch.table.row_stride / 16; p += kWarpSize) {
    row[p] = from[p];
  }
}

}  // namespace

cudaError_t FindTargetsAsync(const WriteBatch& batch, cudaStream_t stream) {
  const cudaError_t error =
      cudaMemsetAsync(batch.counters, 0, sizeof(WriteCounters), stream);
  if (error != cudaSuccess || batch.num_keys == 0) return error;
  const uint32_t num_blocks = WriteBlocks(batch.num_keys);
  FindKernel<<<num_blocks, kWriteThreads, 0, stream>>>(batch, DedupOf(batch));
  const bool may_insert =
      batch.table.index != nullptr && batch.mode != WriteMode::kSetExisting;
  if (may_insert) {
    ReserveKernel<<<num_blocks, kWriteThreads, 0, stream>>>(batch);
  }
  const cudaError_t launched = cudaGetLastError();
  if (launched != cudaSuccess || batch.mode != WriteMode::kAdd) return launched;
  return SortForAddAsync(batch, stream);
}

cudaError_t UndoAsync(const WriteBatch& batch, cudaStream_t stream) {
  if (batch.num_keys == 0) return cudaSuccess;
  UndoKernel<<<WriteBlocks(batch.num_keys), kWriteThreads, 0, stream>>>(batch);
  return cudaGetLastError();
}

cudaError_t PublishAsync(const WriteBatch& batch, const uint32_t* free_rows,
                         uint32_t* retired, cudaStream_t stream) {
  if (batch.num_keys == 0 || batch.table.index == nullptr) return cudaSuccess;
  PublishKernel<<<WriteBlocks(batch.num_keys), kWriteThreads, 0, stream>>>(
      batch, free_rows, retired);
  return cudaGetLastError();
}

cudaError_t EraseAsync(const WriteBatch& batch, uint32_t* retired,
                       cudaStream_t stream) {
  if (batch.num_keys == 0) return cudaSuccess;
  if (batch.table.index != nullptr) {
    EraseKernel<<<WriteBlocks(batch.num_keys), kWriteThreads, 0, stream>>>(
        batch, retired);
  } else {
    constexpr uint32_t kRowsPerBlock = kWriteThreads / kWarpSize;
    const uint32_t num_blocks =
        (batch.num_keys + kRowsPerBlock - 1) / kRowsPerBlock;
    EraseDenseKernel<<<num_blocks, kWriteThreads, 0, stream>>>(batch);
  }
  return cudaGetLastError();
}

}  // namespace gatherd::kernels
