// One thread an entry, blocks of 256, striding. The first pass reads the whole
// index once, and one line more for each entry in its second bucket.
#include "core/kernels/settle.h"

#include <algorithm>

#include "core/kernels/insert.cuh"
#include "core/kernels/write_batch.h"

namespace gatherd::kernels {
namespace {

constexpr int kSettleThreads = 256;
constexpr uint32_t kMaxBlocks = 4096;

__device__ __forceinline__ IndexEntry* IndexOf(const TableRef& t,
                                               uint32_t shard) {
  return reinterpret_cast<IndexEntry*>(reinterpret_cast<uint64_t>(t.index) +
                                       shard * t.index_shard_bytes);
}

__device__ __forceinline__ bool HasRoom(const IndexEntry* bucket) {
  for (int i = 0; i < kEntriesPerBucket; i++) {
    if ((LoadEntry(bucket + i).meta & kStateMask) == kEmpty) return true;
  }
  return false;
}

__global__ void __launch_bounds__(kSettleThreads)
    CopyToFirstKernel(const __grid_constant__ TableRef t, uint32_t shard,
                      const SettleList list) {
  IndexEntry* index = IndexOf(t, shard);
  const uint64_t num_entries = uint64_t{t.num_buckets} * kEntriesPerBucket;
  const uint64_t step = uint64_t{gridDim.x} * kSettleThreads;
  for (uint64_t i = uint64_t{blockIdx.x} * kSettleThreads + threadIdx.x;
       i < num_entries; i += step) {
    const IndexEntry e = LoadEntry(index + i);
    if ((e.meta & kStateMask) != kValid) continue;
    const KeyPlace place = PlaceOf(e.key, t);
    if (place.first == i / kEntriesPerBucket) continue;
    IndexEntry* first = index + uint64_t{place.first} * kEntriesPerBucket;
    if (!HasRoom(first)) continue;
    const uint32_t at = atomicAdd(list.count, 1u);
    if (at >= list.capacity) continue;
    const bool copied = TakePlace(first, e.key, e.row, kValid) != nullptr;
    list.places[at] = copied ? static_cast<uint32_t>(i) : kNoPlace;
  }
}

__global__ void __launch_bounds__(kSettleThreads)
    RemoveSecondsKernel(const __grid_constant__ TableRef t, uint32_t shard,
                        const SettleList list) {
  IndexEntry* index = IndexOf(t, shard);
  const uint32_t count = min(*list.count, list.capacity);
  const uint32_t step = gridDim.x * kSettleThreads;
  for (uint32_t i = blockIdx.x * kSettleThreads + threadIdx.x; i < count;
       i += step) {
    const uint32_t place = list.places[i];
    if (place == kNoPlace) continue;
    RemoveKey(index, index + place, PlaceOf(LoadEntry(index + place).key, t));
  }
}

}  // namespace

cudaError_t CopyToFirstAsync(const TableRef& table, uint32_t shard,
                             const SettleList& list, cudaStream_t stream) {
  const cudaError_t error =
      cudaMemsetAsync(list.count, 0, sizeof(uint32_t), stream);
  if (error != cudaSuccess) return error;
  const uint64_t num_entries = uint64_t{table.num_buckets} * kEntriesPerBucket;
  const uint32_t num_blocks = static_cast<uint32_t>(std::min<uint64_t>(
      (num_entries + kSettleThreads - 1) / kSettleThreads, kMaxBlocks));
  CopyToFirstKernel<<<num_blocks, kSettleThreads, 0, stream>>>(table, shard,
                                                               list);
  return cudaGetLastError();
}

cudaError_t RemoveSecondsAsync(const TableRef& table, uint32_t shard,
                               const SettleList& list, cudaStream_t stream) {
  constexpr uint32_t kBlocks = 264;  // the list's length is on the device
  RemoveSecondsKernel<<<kBlocks, kSettleThreads, 0, stream>>>(table, shard,
                                                              list);
  return cudaGetLastError();
}

}  // namespace gatherd::kernels
