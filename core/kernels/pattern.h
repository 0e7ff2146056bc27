// Fills memory with a pattern and looks whether it is there: how Preflight
// tells that one GPU really reaches another's memory.
#ifndef GATHERD_CORE_KERNELS_PATTERN_H_
#define GATHERD_CORE_KERNELS_PATTERN_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gatherd::kernels {

// Word i becomes a mix of `seed` and i. Neither waits; the stream's device must
// be the current one.
cudaError_t FillPatternAsync(uint32_t* words, uint64_t num_words, uint32_t seed,
                             cudaStream_t stream);

// The number of words that differ from the pattern goes to `*num_wrong`, which
// is pinned host memory.
cudaError_t CountWrongWordsAsync(const uint32_t* words, uint64_t num_words,
                                 uint32_t seed, uint32_t* num_wrong,
                                 cudaStream_t stream);

}  // namespace gatherd::kernels

#endif  // GATHERD_CORE_KERNELS_PATTERN_H_
