// Lookups of all kinds of tables and outputs against the reference rows.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/gpu/lookup_questions.h"
#include "tests/gpu/lookup_rig.h"

namespace gatherd::kernels {
namespace {

TEST_CASE("every type to every type, rows and bags, of every kind of table") {
  LookupRig rig;
  const auto type =
      GENERATE(from_range(std::begin(kAllTypes), std::end(kAllTypes)));
  const auto kind =
      GENERATE(from_range(std::begin(kAllKinds), std::end(kAllKinds)));
  for (const uint32_t dim :
       {1u,   2u,   3u,   4u,   5u,    7u,    8u,    12u,   16u,   17u,
        24u,  31u,  32u,  33u,  64u,   65u,   100u,  127u,  128u,  129u,
        256u, 300u, 512u, 513u, 1000u, 1024u, 2049u, 4096u, 8191u, 8192u}) {
    if (!Platform().is_gpu && dim > 129) continue;  // tests less
    CAPTURE(dim);
    const uint32_t num_keys = std::clamp(60000 / dim, 50u, 2000u);
    const auto table = MakeTable(kind, type, dim, num_keys);
    const size_t num_asked = std::clamp(12000 / dim, 3u, 500u);
    rig.Check(AllQuestions(*table, num_asked, dim), {dim % 2 == 1});
  }
}

TEST_CASE("a segment alone") {
  LookupRig rig;
  const auto type =
      GENERATE(from_range(std::begin(kAllTypes), std::end(kAllTypes)));
  const auto kind =
      GENERATE(from_range(std::begin(kAllKinds), std::end(kAllKinds)));
  for (const uint32_t dim : {4u, 13u, 64u, 160u}) {
    if (!Platform().is_gpu && dim > 13) continue;
    const auto table = MakeTable(kind, type, dim, 3000);
    for (const size_t num_keys : {1, 31, 256, 600}) {
      for (const Question& question : AllQuestions(*table, num_keys, dim)) {
        rig.Check({question}, {num_keys == 256});
      }
    }
  }
}

TEST_CASE("segments of many keys") {
  LookupRig rig;
  const auto kind =
      GENERATE(from_range(std::begin(kAllKinds), std::end(kAllKinds)));
  const uint32_t dim = GENERATE(1, 8, 64);
  const auto table = MakeTable(kind, ElementType::kFloat32, dim, 40000);
  // A warp takes 8, 16 or 32 keys.
  for (const size_t num_keys : {16384, 16385, 50003, 131103}) {
    if (!Platform().is_gpu && num_keys > 100000) continue;
    rig.Check({RowsOf(*table, ElementType::kFloat32, num_keys, dim)});
    rig.Check({RowsOf(*table, ElementType::kFloat16, num_keys, dim)});
    rig.Check({BagsOf(*table, ElementType::kFloat32, num_keys,
                      PoolingMode::kSum, false, dim)});
  }
}

// Segments of all sizes, none among them, of many tables.
std::vector<Question> MixedQuestions(
    const std::vector<std::unique_ptr<TestTable>>& tables, int count,
    bool pooled, uint32_t seed) {
  std::mt19937 engine(seed);
  const auto random = [&] { return static_cast<uint32_t>(engine()); };
  std::vector<Question> questions;
  for (int i = 0; i < count; i++) {
    const TestTable& table = *tables[random() % tables.size()];
    const ElementType type = random() % 2 == 0
                                 ? table.options().type
                                 : kAllTypes[random() % std::size(kAllTypes)];
    const size_t num_keys = random() % 4 == 0 ? 0 : random() % 300;
    const uint32_t choice = pooled ? random() % 8 : 0;
    if (choice < 4) {
      questions.push_back(RowsOf(table, type, num_keys, random()));
    } else {
      questions.push_back(
          BagsOf(table, type, num_keys,
                 choice % 2 == 0 ? PoolingMode::kSum : PoolingMode::kMean,
                 choice < 6, random()));
    }
  }
  return questions;
}

TEST_CASE("many segments of many tables in one batch") {
  LookupRig rig;
  std::vector<std::unique_ptr<TestTable>> tables;
  for (const Kind kind : kAllKinds) {
    for (const ElementType type : kAllTypes) {
      tables.push_back(MakeTable(
          kind, type, 8 + 8 * static_cast<uint32_t>(tables.size()), 500));
    }
  }
  const int count = GENERATE(1, 2, 5, 31, 32, 33, 100, kMaxSegments);
  for (uint32_t seed = 0; seed < 4; seed++) {
    CAPTURE(seed);
    rig.Check(MixedQuestions(tables, count, true, seed), {seed % 2 == 0});
    BatchOptions split;
    split.split = true;
    split.on_host = true;
    split.this_shard = static_cast<int32_t>(seed);
    rig.Check(MixedQuestions(tables, count, false, seed), split);
  }
}

TEST_CASE("plain rows of many tables in one batch") {
  LookupRig rig;
  std::vector<std::unique_ptr<TestTable>> tables;
  for (uint32_t dim = 4; dim <= 64; dim *= 2) {
    tables.push_back(MakeTable(Kind::kDense, ElementType::kFloat32, dim, 900));
    if (dim % 8 == 0) {
      tables.push_back(
          MakeTable(Kind::kHashed, ElementType::kFloat32, dim, 900));
    }
  }
  for (const int count : {2, 26, 32, 33, kMaxSegments}) {
    std::vector<Question> questions;
    for (int i = 0; i < count; i++) {
      // The hashed tables at the end of the list are left out every other time.
      const size_t num = count % 2 == 0 ? tables.size() : 1;
      questions.push_back(RowsOf(*tables[i % num], ElementType::kFloat32,
                                 static_cast<size_t>(i * 37 % 600), i));
    }
    rig.Check(questions);
    rig.Check(questions, {true});
  }
}

TEST_CASE("a batch without keys is reported, too") {
  LookupRig rig;
  const auto table = MakeTable(Kind::kHashed, ElementType::kInt8, 16, 100);
  rig.Check({RowsOf(*table, ElementType::kFloat32, 0, 1)});
  rig.Check(
      {BagsOf(*table, ElementType::kFloat32, 0, PoolingMode::kMean, true, 1)});
  Question no_bags = RowsOf(*table, ElementType::kFloat32, 0, 1);
  no_bags.pooling = PoolingMode::kSum;
  rig.Check({no_bags, no_bags, RowsOf(*table, ElementType::kInt8, 7, 2)});
}

}  // namespace
}  // namespace gatherd::kernels
