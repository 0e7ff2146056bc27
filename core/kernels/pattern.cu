// Grid: 64 blocks of 256 threads, striding over the words, 4 bytes a thread and
// step. A few MiB at start: bound by the launch, not by the memory.
#include "core/kernels/pattern.h"

namespace gatherd::kernels {
namespace {

constexpr int kBlocks = 64;
constexpr int kThreads = 256;

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
  const uint64_t step = uint64_t{kBlocks} * kThreads;
  for (uint64_t i = blockIdx.x * kThreads + threadIdx.x; i < num_words;
       i += step) {
    words[i] = PatternWord(seed, i);
  }
}

__global__ void CountWrongWordsKernel(const uint32_t* words, uint64_t num_words,
                                      uint32_t seed, uint32_t* num_wrong) {
  const uint64_t step = uint64_t{kBlocks} * kThreads;
  uint32_t wrong = 0;
  for (uint64_t i = blockIdx.x * kThreads + threadIdx.x; i < num_words;
       i += step) {
    // Volatile: from the memory itself, not from this kernel's view of it.
    if (static_cast<const volatile uint32_t*>(words)[i] !=
        PatternWord(seed, i)) {
      ++wrong;
    }
  }
  if (wrong != 0) atomicAdd_system(num_wrong, wrong);
}

}  // namespace

cudaError_t FillPatternAsync(uint32_t* words, uint64_t num_words, uint32_t seed,
                             cudaStream_t stream) {
  FillPatternKernel<<<kBlocks, kThreads, 0, stream>>>(words, num_words, seed);
  return cudaGetLastError();
}

cudaError_t CountWrongWordsAsync(const uint32_t* words, uint64_t num_words,
                                 uint32_t seed, uint32_t* num_wrong,
                                 cudaStream_t stream) {
  CountWrongWordsKernel<<<kBlocks, kThreads, 0, stream>>>(words, num_words,
                                                          seed, num_wrong);
  return cudaGetLastError();
}

}  // namespace gatherd::kernels
