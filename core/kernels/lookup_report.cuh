// How a batch tells the host that it is done, and what it counted: device side.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_REPORT_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_REPORT_CUH_

#include <cstddef>
#include <cstdint>

#include "core/kernels/lookup.cuh"
#include "core/kernels/lookup.h"

namespace gatherd::kernels {

inline constexpr int kBlockThreads = 256;  // but for pooling

// Counters are sent as words.
inline constexpr uint32_t kWordsPerCounters =
    sizeof(LookupCounters) / sizeof(uint32_t);
static_assert(offsetof(LookupCounters, num_missing) == 0);

// See LookupBatch; `done` is null in launches that send no report.
struct ReportParams {
  volatile uint64_t* done = nullptr;
  uint64_t sequence = 0;
  uint32_t* blocks_left = nullptr;
  uint32_t* counters = nullptr;
  uint32_t* host_counters = nullptr;
  uint32_t* missing_words = nullptr;
  uint32_t* host_missing = nullptr;
  uint32_t num_counter_words = 0;
  uint32_t num_missing_words = 0;
  bool is_only = false;  // launch of the batch
};

// Launches of more threads leave the report to a kernel of its own, so that no
// block waits at its end for its stores: with 16,384 blocks that cost a quarter
// of the time. An H200 runs as many as this at once.
inline constexpr uint32_t kMaxReportingThreads = 1056 * 256;

cudaError_t LaunchReport(const ReportParams& report, cudaStream_t stream);

// What became of a thread's key.
enum class KeyFate { kNoKey, kMissing, kLocal, kRemote };

// Counts the keys of a block's threads. A barrier: all threads call. Thread 0
// returns whether there was anything to count.
__device__ __forceinline__ bool CountKeys(LookupCounters* counters,
                                          KeyFate fate, bool sharded) {
  const int num_missing = __syncthreads_count(fate == KeyFate::kMissing);
  int num_local = 0, num_remote = 0;
  if (sharded) {
    num_local = __syncthreads_count(fate == KeyFate::kLocal);
    num_remote = __syncthreads_count(fate == KeyFate::kRemote);
  }
  if (counters == nullptr || threadIdx.x != 0) return false;
  if (num_missing != 0) atomicAdd(&counters->num_missing, num_missing);
  if (num_local != 0) atomicAdd(&counters->num_local, num_local);
  if (num_remote != 0) atomicAdd(&counters->num_remote, num_remote);
  return (num_missing | num_local | num_remote) != 0;
}

// By one thread, which has seen all that the others wrote.
__device__ __forceinline__ void SignalDone(const ReportParams& report) {
  __threadfence_system();
  *report.done = report.sequence;
}

// By all threads of a block, which each have kInFlight loads in flight.
template <uint32_t kInFlight>
__device__ __forceinline__ void MoveWords(uint32_t* words, uint32_t count,
                                          uint32_t* host) {
  for (uint32_t start = threadIdx.x; start < count;
       start += blockDim.x * kInFlight) {
    uint32_t v[kInFlight];
#pragma unroll
    for (uint32_t u = 0; u < kInFlight; u++) {
      const uint32_t i = start + u * blockDim.x;
      if (i < count) v[u] = __ldcg(words + i);
    }
#pragma unroll
    for (uint32_t u = 0; u < kInFlight; u++) {
      const uint32_t i = start + u * blockDim.x;
      if (i >= count) continue;
      host[i] = v[u];
      words[i] = 0;
    }
  }
}

// Moves what was counted to the host and leaves zeros. All threads of a block.
// The launch has zeroed the host's counters.
template <uint32_t kInFlight>
__device__ __forceinline__ void SendReport(const ReportParams& report) {
  bool any_missing = false;
  for (uint32_t i = threadIdx.x; i < report.num_counter_words;
       i += blockDim.x) {
    const uint32_t count = __ldcg(report.counters + i);
    if (count == 0) continue;
    report.host_counters[i] = count;
    report.counters[i] = 0;
    any_missing = any_missing || i % kWordsPerCounters == 0;
  }
  if (__syncthreads_or(any_missing)) {
    MoveWords<kInFlight>(report.missing_words, report.num_missing_words,
                         report.host_missing);
    __syncthreads();
  }
  if (threadIdx.x == 0) SignalDone(report);
}

// What a block that counted something adds to the number of blocks that came.
// Above all numbers of blocks that report.
inline constexpr uint32_t kCountedBlock = 1 << 16;

// Called by all threads of every block as the last thing, after a barrier that
// follows all else they write. The last block to come sends the report.
// `counted`, of thread 0: whether the block counted anything. Where no block
// did, nobody need look at the counters.
__device__ __forceinline__ void FinishBlock(const ReportParams& report,
                                            bool counted) {
  if (report.done == nullptr) return;
  __shared__ bool must_send;
  if (threadIdx.x == 0) {
    const uint32_t mine = counted || !report.is_only ? kCountedBlock + 1 : 1;
    // What the threads of the block wrote, seen at the barrier, comes before
    // the count; what all blocks wrote, before the report.
    __threadfence();
    const uint32_t sum = atomicAdd(report.blocks_left, mine) + mine;
    must_send = false;
    if (sum % kCountedBlock == gridDim.x) {
      __threadfence();
      *report.blocks_left = 0;
      must_send = sum > kCountedBlock;
      if (!must_send) SignalDone(report);
    }
  }
  __syncthreads();
  // A small batch; more in flight would cost all blocks registers.
  if (must_send) SendReport<1>(report);
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_REPORT_CUH_
