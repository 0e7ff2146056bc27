// How a batch tells the host that it is done, and what it counted: device side.
#ifndef GATHERD_CORE_KERNELS_LOOKUP_REPORT_CUH_
#define GATHERD_CORE_KERNELS_LOOKUP_REPORT_CUH_

#include <cstddef>
#include <cstdint>

#include "core/kernels/lookup.cuh"
#include "core/kernels/lookup.h"

namespace gatherd::kernels {

inline constexpr int kBlockThreads = 256;

// Counters are sent as words.
inline constexpr uint32_t kWordsPerCounters =
    sizeof(LookupCounters) / sizeof(uint32_t);
static_assert(offsetof(LookupCounters, num_missing) == 0);

// See LookupBatch; `done` is null in launches that are not their batch's last.
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
};

inline ReportParams MakeReportParams(const LookupBatch& batch) {
  ReportParams report;
  report.done = batch.done;
  report.sequence = batch.sequence;
  report.blocks_left = batch.blocks_left;
  report.counters = reinterpret_cast<uint32_t*>(batch.counters);
  report.host_counters = reinterpret_cast<uint32_t*>(batch.host_counters);
  report.missing_words = batch.missing_words;
  report.host_missing = batch.host_missing;
  report.num_counter_words =
      static_cast<uint32_t>(batch.num_segments) * kWordsPerCounters;
  report.num_missing_words = batch.num_missing_words;
  return report;
}

// What became of a thread's key.
enum class KeyFate { kNoKey, kMissing, kLocal, kRemote };

// Counts the keys of a block's threads. A barrier: all threads call.
__device__ __forceinline__ void CountKeys(LookupCounters* counters,
                                          KeyFate fate, bool sharded) {
  const int num_missing = __syncthreads_count(fate == KeyFate::kMissing);
  int num_local = 0, num_remote = 0;
  if (sharded) {
    num_local = __syncthreads_count(fate == KeyFate::kLocal);
    num_remote = __syncthreads_count(fate == KeyFate::kRemote);
  }
  if (counters == nullptr || threadIdx.x != 0) return;
  if (num_missing != 0) atomicAdd(&counters->num_missing, num_missing);
  if (num_local != 0) atomicAdd(&counters->num_local, num_local);
  if (num_remote != 0) atomicAdd(&counters->num_remote, num_remote);
}

// Moves what was counted to the host and leaves zeros.
__device__ __forceinline__ void SendReport(const ReportParams& report) {
  bool any_missing = false;
  for (uint32_t i = threadIdx.x; i < report.num_counter_words;
       i += kBlockThreads) {
    const uint32_t count = __ldcg(report.counters + i);
    report.host_counters[i] = count;
    if (count == 0) continue;
    report.counters[i] = 0;
    any_missing = any_missing || i % kWordsPerCounters == 0;
  }
  if (__syncthreads_or(any_missing)) {
    for (uint32_t i = threadIdx.x; i < report.num_missing_words;
         i += kBlockThreads) {
      report.host_missing[i] = __ldcg(report.missing_words + i);
      report.missing_words[i] = 0;
    }
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  __threadfence_system();
  *report.done = report.sequence;
}

// Called by all threads of every block as the last thing, after a barrier that
// follows all else they write. The last block to come sends the report.
__device__ __forceinline__ void FinishBlock(const ReportParams& report) {
  if (report.done == nullptr) return;
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    // The fences make the writes of all threads of the block, seen at the
    // barrier, visible before the count, and all blocks' before the report.
    __threadfence_system();
    is_last = atomicInc(report.blocks_left, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last) SendReport(report);
}

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_LOOKUP_REPORT_CUH_
