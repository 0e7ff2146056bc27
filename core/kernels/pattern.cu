// Writing: 64 blocks of 256 threads; reading: one block of 1024, which can
// count without atomics in host memory. Both stride over the words, 4 bytes a
// thread and step, 4 bytes moved a word. Bound by latency: a few MiB at start.
#include "core/kernels/pattern.h"

namespace gatherd::kernels {
namespace {

constexpr int kFillBlocks = 64;
constexpr int kFillThreads = 256;
constexpr int kCountThreads = 1024;

// The finaliser of MurmurHash3 (Austin Appleby, public domain): neighbours and
// near seeds share no bits.
__device__ uint32_t PatternWord(uint32_t seed, uint64_t index) {
  uint32_t word = seed ^ (static_cast<uint32_t>(index) * 0x9e3779b9u);
  word = (word ^ (word >> 16)) * 0x85ebca6bu;
  word = (word ^ (word >> 13)) * 0xc2b2ae35u;
  return word ^ (word >> 16);
}

__global__ void FillPatternKernel(uint32_t* words, uint64_t num_words,
                                  uint32_t seed) {
  constexpr uint64_t kStep = uint64_t{kFillBlocks} * kFillThreads;
  for (uint64_t i = blockIdx.x * kFillThreads + threadIdx.x; i < num_words;
       i += kStep) {
    words[i] = PatternWord(seed, i);
  }
}

__global__ void CountWrongWordsKernel(const uint32_t* words, uint64_t num_words,
                                      uint32_t seed, uint32_t* num_wrong) {
  __shared__ uint32_t total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  // Volatile: each word is really read.
  const volatile uint32_t* source = words;
  uint32_t wrong = 0;
  for (uint64_t i = threadIdx.x; i < num_words; i += kCountThreads) {
    if (source[i] != PatternWord(seed, i)) ++wrong;
  }
  if (wrong != 0) atomicAdd(&total, wrong);
  __syncthreads();
  if (threadIdx.x == 0) *num_wrong = total;
}

}  // namespace

cudaError_t FillPatternAsync(uint32_t* words, uint64_t num_words, uint32_t seed,
                             cudaStream_t stream) {
  FillPatternKernel<<<kFillBlocks, kFillThreads, 0, stream>>>(words, num_words,
                                                              seed);
  return cudaGetLastError();
}

cudaError_t CountWrongWordsAsync(const uint32_t* words, uint64_t num_words,
                                 uint32_t seed, uint32_t* num_wrong,
                                 cudaStream_t stream) {
  CountWrongWordsKernel<<<1, kCountThreads, 0, stream>>>(words, num_words, seed,
                                                         num_wrong);
  return cudaGetLastError();
}

}  // namespace gatherd::kernels
