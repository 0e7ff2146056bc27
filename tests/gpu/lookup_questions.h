// Tables and questions to ask of them.
#ifndef GATHERD_TESTS_GPU_LOOKUP_QUESTIONS_H_
#define GATHERD_TESTS_GPU_LOOKUP_QUESTIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/gpu/lookup_rig.h"
#include "tests/gpu/test_table.h"

namespace gatherd::kernels {

inline constexpr ElementType kAllTypes[] = {
    ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16,
    ElementType::kInt8};

enum class Kind { kDense, kHashed, kShardedDense, kShardedHashed };
inline constexpr Kind kAllKinds[] = {Kind::kDense, Kind::kHashed,
                                     Kind::kShardedDense, Kind::kShardedHashed};

// Sharded: two to four shards, by `dim`, if not told. Hashed: at a load of
// about 0.9.
std::unique_ptr<TestTable> MakeTable(Kind kind, ElementType type, uint32_t dim,
                                     uint32_t num_keys,
                                     uint32_t num_shards = 0);

Question RowsOf(const TestTable& table, ElementType type, size_t num_keys,
                uint32_t seed);

// Bags of 0 to 100 keys.
Question BagsOf(const TestTable& table, ElementType type, size_t num_keys,
                PoolingMode pooling, bool weighted, uint32_t seed);

// All outputs and poolings of one table.
std::vector<Question> AllQuestions(const TestTable& table, size_t num_keys,
                                   uint32_t seed);

}  // namespace gatherd::kernels

#endif  // GATHERD_TESTS_GPU_LOOKUP_QUESTIONS_H_
