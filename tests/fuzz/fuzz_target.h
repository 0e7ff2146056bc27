// What every fuzzer of this folder defines. With libFuzzer (--config=fuzz) it
// is driven by coverage; mutate_test.cc drives it with random mutations of its
// seeds, in every build.
#ifndef GATHERD_TESTS_FUZZ_FUZZ_TARGET_H_
#define GATHERD_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

// Handles one input. Ends the process on a fault.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace gatherd {

// Inputs that are handled in different ways.
std::vector<std::string> FuzzSeeds();

inline void FuzzRequire(bool condition) {
  if (!condition) std::abort();
}

}  // namespace gatherd

#endif  // GATHERD_TESTS_FUZZ_FUZZ_TARGET_H_
