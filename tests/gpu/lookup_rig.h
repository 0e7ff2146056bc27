// Batches of lookups as the engine makes them, checked to the last bit.
#ifndef GATHERD_TESTS_GPU_LOOKUP_RIG_H_
#define GATHERD_TESTS_GPU_LOOKUP_RIG_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kernels/lookup.h"
#include "tests/gpu/expected_rows.h"

namespace gatherd::kernels {

struct BatchOptions {
  bool on_host = false;  // keys and outputs, in pinned memory
  bool split = false;    // every shard answers for its own keys
  bool push = false;     // the same, launched as owners that push rows are
  int32_t this_shard = 0;
};

// Runs batches one after another over the same device words.
class LookupRig {
 public:
  LookupRig();
  ~LookupRig();

  // Launches, waits for the report, and requires that outputs, counters and
  // missing bits are right, that nothing else was written, and that the device
  // words are zero again.
  void Check(const std::vector<Question>& questions,
             const BatchOptions& options = {});

 private:
  struct Run;
  void Launch(Run* run, int32_t only_shard);
  void CheckReport(const Run& run, int32_t only_shard);
  void CheckOutputs(const Run& run);

  uint64_t sequence_ = 0;
  DeviceArray<LookupCounters> counters_;
  DeviceArray<uint32_t> missing_words_;
  DeviceArray<uint32_t> blocks_left_;
  DeviceArray<char> device_input_;
  DeviceArray<char> device_output_;
  const Stream stream_;
  std::vector<std::byte> seen_;  // outputs
  // Pinned memory.
  char* report_ = nullptr;
  char* input_ = nullptr;
  char* output_ = nullptr;
};

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_GPU_LOOKUP_RIG_H_
