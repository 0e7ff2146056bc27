// A table with random rows in device memory, and what is in it.
#ifndef GATHERD_TESTS_GPU_TEST_TABLE_H_
#define GATHERD_TESTS_GPU_TEST_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tests/gpu/write_rig.h"

namespace gatherd::kernels {

// A table and its model. Dense: every row of the range was written. Hashed:
// `num_keys` keys are, among them the lowest and the highest.
class TestTable {
 public:
  TestTable(RigOptions options, uint32_t num_keys, uint32_t seed);

  const RigOptions& options() const { return options_; }
  TableRef& ref() { return ref_; }
  const TableRef& ref() const { return ref_; }

  struct Place {
    uint32_t shard;
    uint32_t slot;  // hashed
  };
  // Null if the key is missing.
  const Place* Find(int64_t key) const;
  // The default row of a missing key.
  const std::byte* RowOf(int64_t key) const;

  // With repetitions; about one in five missing.
  std::vector<int64_t> RandomKeys(size_t count, uint32_t seed) const;
  // Each once, none missing.
  std::vector<int64_t> PresentKeys() const;

 private:
  void ReadPlaces();

  const RigOptions options_;
  WriteRig rig_;
  TableRef ref_;
  std::vector<std::byte> default_row_;
  std::unordered_map<int64_t, std::vector<std::byte>> rows_;
  std::unordered_map<int64_t, Place> places_;
};

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_GPU_TEST_TABLE_H_
