// A lookup job with the buffers it borrows, and what it must answer.
#ifndef GATHERD_TESTS_CORE_EXEC_LOOKUP_REQUEST_H_
#define GATHERD_TESTS_CORE_EXEC_LOOKUP_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "core/exec/job.h"
#include "tests/core/exec/fake_table.h"

namespace gatherd {

// Buffers of one segment. Not movable: the segment borrows from it.
struct SegmentBuffers {
  std::vector<int64_t> keys;
  std::vector<uint32_t> offsets;
  std::vector<float> weights;
  std::vector<float> rows;
  std::vector<uint8_t> missing;
};

class LookupRequest {
 public:
  LookupJob job;

  // Keys first, first + 1, ...
  void AddKeys(FakeTable& table, size_t num_keys, int64_t first = 0);
  // The same, as bags of the given numbers of keys.
  void AddBags(FakeTable& table, const std::vector<size_t>& bag_keys);
  // One of the two, at random, with up to `max_keys` keys.
  void AddRandom(FakeTable& table, size_t max_keys, std::mt19937_64& random);

  // Fails the running test case unless rows, bits and counts are those of one
  // lookup per segment.
  void CheckAnswer() const;

 private:
  void Add(FakeTable& table, std::unique_ptr<SegmentBuffers> buffers);

  std::vector<std::unique_ptr<SegmentBuffers>> buffers_;
};

}  // namespace gatherd

#endif  // GATHERD_TESTS_CORE_EXEC_LOOKUP_REQUEST_H_
