// Lookups that each shard answers for itself, of which the parts together must
// be what one GPU that reads all shards gives: the rig asks for the reference.
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/gpu/lookup_questions.h"
#include "tests/gpu/lookup_rig.h"

namespace gatherd::kernels {
namespace {

constexpr Kind kShardedKinds[] = {Kind::kShardedDense, Kind::kShardedHashed};

void CheckAllWays(LookupRig* rig, const std::vector<Question>& questions,
                  bool on_host) {
  BatchOptions options;
  options.on_host = on_host;
  rig->Check(questions, options);
  options.split = true;
  options.this_shard = 1;
  rig->Check(questions, options);
  options.push = true;
  rig->Check(questions, options);
}

TEST_CASE("rows divided by owner, of every type to every type") {
  LookupRig rig;
  const auto type =
      GENERATE(from_range(std::begin(kAllTypes), std::end(kAllTypes)));
  const auto kind =
      GENERATE(from_range(std::begin(kShardedKinds), std::end(kShardedKinds)));
  for (const uint32_t dim : {1u, 4u, 13u, 32u, 100u, 128u, 513u, 8192u}) {
    if (!Platform().is_gpu && dim > 100) continue;
    const auto table = MakeTable(kind, type, dim, 500);
    std::vector<Question> questions;
    for (const ElementType output : kAllTypes) {
      questions.push_back(RowsOf(*table, output, dim > 1000 ? 100 : 700, dim));
      CheckAllWays(&rig, {questions.back()}, dim % 2 == 1);
    }
    CheckAllWays(&rig, questions, dim % 2 == 0);
  }
}

TEST_CASE("many rows divided by owner, over any number of shards") {
  LookupRig rig;
  const uint32_t num_shards = GENERATE(2, 3, 8, 9);
  const auto kind =
      GENERATE(from_range(std::begin(kShardedKinds), std::end(kShardedKinds)));
  const uint32_t dim = GENERATE(4, 32);
  const auto table =
      MakeTable(kind, ElementType::kFloat32, dim, 20000, num_shards);
  // A warp takes 8, 16 or 32 keys of a shard.
  for (const size_t num_keys : {1, 33, 5000, 70001, 270001}) {
    if (!Platform().is_gpu && num_keys > 5000) continue;
    const Question plain =
        RowsOf(*table, ElementType::kFloat32, num_keys, num_shards);
    CheckAllWays(&rig, {plain}, false);
    if (num_keys > 100000) continue;
    const Question converted =
        RowsOf(*table, ElementType::kFloat16, num_keys, dim);
    CheckAllWays(&rig, {plain, converted, plain}, true);
  }
}

TEST_CASE("keys divided by owner that are all of one shard") {
  LookupRig rig;
  const auto kind =
      GENERATE(from_range(std::begin(kShardedKinds), std::end(kShardedKinds)));
  const auto table = MakeTable(kind, ElementType::kFloat32, 8, 20000, 4);
  const size_t num_keys = Platform().is_gpu ? 600000 : 5000;
  Question question = RowsOf(*table, ElementType::kFloat32, 0, 1);
  const std::vector<int64_t> present = table->PresentKeys();
  for (size_t i = 0; question.keys.size() < num_keys; i++) {
    const int64_t key = present[i % present.size()];
    if (table->Find(key)->shard == 2) question.keys.push_back(key);
  }
  CheckAllWays(&rig, {question}, false);
  question.output_type = ElementType::kBFloat16;
  question.keys.resize(4000);
  CheckAllWays(&rig, {question}, false);
}

}  // namespace
}  // namespace gatherd::kernels
