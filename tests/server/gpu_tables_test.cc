#include "server/gpu_tables.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/server/specs.h"

namespace gatherd {
namespace {

using Catch::Contains;

CatalogTableSpec WithTiers(const std::string& name,
                           std::vector<TierSpec> tiers) {
  CatalogTableSpec spec = HashedSpec(name, 2, 10);
  spec.table.tiers = std::move(tiers);
  return spec;
}

TEST_CASE("Tables in one tier may be on GPUs or beside them") {
  CHECK(CheckGpuTables({}).ok());
  CHECK(CheckGpuTables({WithTiers("a", {{TierKind::kGpu, 10}}),
                        WithTiers("b", {{TierKind::kHost, 10}})})
            .ok());
}

TEST_CASE("What GPUs cannot have is refused by name") {
  const absl::Status cache = CheckGpuTables(
      {WithTiers("fine", {{TierKind::kGpu, 10}}),
       WithTiers("words", {{TierKind::kGpu, 10}, {TierKind::kHost, 100}})});
  CHECK(absl::IsUnimplemented(cache));
  CHECK_THAT(std::string(cache.message()), Contains("'words'") &&
                                               Contains("gpu above host") &&
                                               Contains("allowed"));

  const absl::Status replicated = CheckGpuTables(
      {WithTiers("words", {{TierKind::kGpu, 10, Spread::kReplicated}})});
  CHECK(absl::IsUnimplemented(replicated));
  CHECK_THAT(std::string(replicated.message()),
             Contains("'words'") && Contains("`spread`") &&
                 Contains("allowed is sharded"));
}

}  // namespace
}  // namespace gatherd
