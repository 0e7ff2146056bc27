#include "core/table/table_spec.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace gatherd {
namespace {

using Catch::Matchers::Contains;

TableSpec GoodSpec() {
  TableSpec spec;
  spec.name = "words";
  spec.dim = 100;
  spec.tiers = {{.kind = TierKind::kHost, .rows = 1000}};
  return spec;
}

// The refusal's text.
std::string Refusal(const TableSpec& spec) {
  const absl::Status status = ValidateTableSpec(spec);
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST_CASE("good specs are accepted") {
  TableSpec spec = GoodSpec();
  CHECK(ValidateTableSpec(spec).ok());
  spec.name = std::string(128, 'a');
  spec.dim = 8192;
  CHECK(ValidateTableSpec(spec).ok());
  spec.name = "A-z_0.9";
  spec.dim = 1;
  spec.eviction = Eviction::kLru;
  spec.tiers = {
      {.kind = TierKind::kGpu, .rows = 10, .spread = Spread::kReplicated},
      {.kind = TierKind::kHost, .rows = 100},
      {.kind = TierKind::kRedis, .rows = 1000}};
  CHECK(ValidateTableSpec(spec).ok());
  spec.eviction = Eviction::kNone;
  spec.tiers.back().rows = 0;
  CHECK(ValidateTableSpec(spec).ok());
  spec = GoodSpec();
  spec.key_space = KeySpace::kDense;
  spec.tiers[0].rows = 4'294'967'294;
  CHECK(ValidateTableSpec(spec).ok());
}

TEST_CASE("a bad name is refused") {
  for (const char* name : {"", "a b", "a/b", "\xc3\xa4", "a:b"}) {
    TableSpec spec = GoodSpec();
    spec.name = name;
    CHECK_THAT(Refusal(spec), Contains("name"));
  }
  TableSpec spec = GoodSpec();
  spec.name = std::string(129, 'a');
  CHECK_THAT(Refusal(spec), Contains("129") && Contains("128"));
}

TEST_CASE("a refusal names table, setting, value and what is allowed") {
  TableSpec spec = GoodSpec();
  spec.dim = 8193;
  CHECK_THAT(Refusal(spec), Contains("words") && Contains("dim") &&
                                Contains("8193") && Contains("1 to 8192"));
  spec.dim = 0;
  CHECK_THAT(Refusal(spec), Contains("dim"));
  spec = GoodSpec();
  spec.default_value = std::nanf("");
  CHECK_THAT(Refusal(spec), Contains("default_row"));
}

TEST_CASE("rows of a tier in memory are bounded") {
  for (const uint64_t rows : {uint64_t{0}, uint64_t{4'294'967'295}}) {
    TableSpec spec = GoodSpec();
    spec.tiers[0].rows = rows;
    CHECK_THAT(Refusal(spec), Contains("rows") && Contains("host") &&
                                  Contains(std::to_string(rows)) &&
                                  Contains("4294967294"));
  }
}

TEST_CASE("impossible tiers are refused") {
  TableSpec spec = GoodSpec();
  spec.tiers.clear();
  CHECK_THAT(Refusal(spec), Contains("tiers"));
  const TierSpec gpu = {.kind = TierKind::kGpu, .rows = 10};
  const TierSpec host = {.kind = TierKind::kHost, .rows = 10};
  const TierSpec rocksdb = {.kind = TierKind::kRocksDb};
  const TierSpec redis = {.kind = TierKind::kRedis};
  const std::vector<TierSpec> impossible[] = {
      {host, gpu},     {host, host},           {gpu, gpu, host},
      {rocksdb, host}, {host, rocksdb, redis}, {host, redis, rocksdb}};
  for (const auto& tiers : impossible) {
    spec.tiers = tiers;
    CHECK_THAT(Refusal(spec), Contains("tiers"));
  }
  spec.tiers = {
      {.kind = TierKind::kHost, .rows = 10, .spread = Spread::kReplicated}};
  CHECK_THAT(Refusal(spec), Contains("spread"));
}

TEST_CASE("impossible combinations are refused") {
  TableSpec spec = GoodSpec();
  spec.key_space = KeySpace::kDense;
  spec.eviction = Eviction::kLfu;
  CHECK_THAT(Refusal(spec), Contains("eviction") && Contains("lfu"));
  spec.eviction = Eviction::kNone;
  spec.tiers.push_back({.kind = TierKind::kRocksDb});
  CHECK_THAT(Refusal(spec), Contains("rows") && Contains("rocksdb"));
  spec.key_space = KeySpace::kHashed;
  CHECK(ValidateTableSpec(spec).ok());
  spec.eviction = Eviction::kLru;
  CHECK_THAT(Refusal(spec), Contains("eviction") && Contains("rocksdb"));
}

}  // namespace
}  // namespace gatherd
