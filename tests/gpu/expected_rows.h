// What a lookup must answer, by the reference rows.
#ifndef GATHERD_TESTS_GPU_EXPECTED_ROWS_H_
#define GATHERD_TESTS_GPU_EXPECTED_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/kernels/lookup.h"
#include "tests/gpu/test_table.h"

namespace gatherd::kernels {

// One segment of a batch.
struct Question {
  const TestTable* table = nullptr;
  std::vector<int64_t> keys;
  std::vector<uint32_t> offsets;
  std::vector<float> weights;
  ElementType output_type = ElementType::kFloat32;
  PoolingMode pooling = PoolingMode::kNone;
};

size_t NumOutputRows(const Question& q);

// Row `i` of the output.
std::vector<std::byte> ExpectedRow(const Question& q, size_t i);

// Whether two rows are the same to the last bit, or, where a row is not copied
// but converted, to the payloads of NaNs.
bool SameRow(const Question& q, const std::byte* a, const std::byte* b);

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_GPU_EXPECTED_ROWS_H_
