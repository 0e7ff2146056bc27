#include "tests/gpu/lookup_questions.h"

#include <algorithm>
#include <iterator>
#include <random>

#include "testing/random_floats.h"

namespace gatherd::kernels {

std::unique_ptr<TestTable> MakeTable(Kind kind, ElementType type, uint32_t dim,
                                     uint32_t num_keys, uint32_t num_shards) {
  RigOptions options;
  options.hashed = kind == Kind::kHashed || kind == Kind::kShardedHashed;
  const bool sharded =
      kind == Kind::kShardedDense || kind == Kind::kShardedHashed;
  if (num_shards == 0) num_shards = 2 + dim % 3;
  options.num_shards = sharded ? num_shards : 1;
  options.num_rows = num_keys;
  if (options.hashed) {
    options.num_rows = num_keys + 64;
    const uint32_t per_shard = num_keys / options.num_shards;
    // A shard of few keys may get more of them than most.
    options.num_buckets =
        static_cast<uint32_t>(per_shard / 0.93 / kEntriesPerBucket) +
        (sharded ? 12 : 2);
  }
  options.dim = dim;
  options.type = type;
  options.default_value = 0.75f;
  options.max_keys = std::min<uint32_t>(num_keys, 1 << 16);
  return std::make_unique<TestTable>(options, num_keys, dim);
}

Question RowsOf(const TestTable& table, ElementType type, size_t num_keys,
                uint32_t seed) {
  Question q;
  q.table = &table;
  q.output_type = type;
  q.keys = table.RandomKeys(num_keys, seed);
  return q;
}

Question BagsOf(const TestTable& table, ElementType type, size_t num_keys,
                PoolingMode pooling, bool weighted, uint32_t seed) {
  constexpr uint32_t kSizes[] = {0, 1, 2, 3, 5, 0, 31, 32, 33, 64, 100};
  Question q = RowsOf(table, type, num_keys, seed);
  q.pooling = pooling;
  std::mt19937 random(seed);
  for (uint32_t at = 0; at <= num_keys;
       at += kSizes[random() % std::size(kSizes)]) {
    q.offsets.push_back(at);
  }
  for (size_t i = 0; weighted && i < num_keys; i++) {
    q.weights.push_back(i % 50 == 7 ? 0.0f : RandomNormal(random));
  }
  // Weights that sum to nothing.
  if (weighted && num_keys > 1 && q.offsets.size() > 1 && q.offsets[1] > 1) {
    std::fill(q.weights.begin(), q.weights.begin() + q.offsets[1], 0.0f);
  }
  return q;
}

std::vector<Question> AllQuestions(const TestTable& table, size_t num_keys,
                                   uint32_t seed) {
  std::vector<Question> questions;
  for (const ElementType type : kAllTypes) {
    questions.push_back(RowsOf(table, type, num_keys, seed++));
    for (const PoolingMode pooling : {PoolingMode::kSum, PoolingMode::kMean}) {
      for (const bool weighted : {false, true}) {
        questions.push_back(
            BagsOf(table, type, num_keys, pooling, weighted, seed++));
      }
    }
  }
  return questions;
}

}  // namespace gatherd::kernels
