#include "core/table/batch_keys.h"

#include <catch2/catch.hpp>
#include <limits>

namespace gatherd {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST_CASE("positions of each key are chained in order") {
  const std::vector<int64_t> keys = {5, kMin, 5, -1, 5, -1};
  const BatchKeys batch(keys, 17);
  REQUIRE(batch.keys() == std::vector<int64_t>{5, kMin, -1});
  CHECK(batch.first(0) == 0);
  CHECK(batch.next(0) == 2);
  CHECK(batch.next(2) == 4);
  CHECK(batch.next(4) == BatchKeys::kNone);
  CHECK(batch.last(0) == 4);
  CHECK(batch.first(1) == 1);
  CHECK(batch.last(1) == 1);
  CHECK(batch.next(1) == BatchKeys::kNone);
  CHECK(batch.first(2) == 3);
  CHECK(batch.last(2) == 5);
  CHECK(batch.Find(kMin) == 1);
  CHECK(batch.Find(0) == BatchKeys::kNone);
}

TEST_CASE("no key stands twice") {
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < 10000; ++i) keys.push_back(i << 32);
  const BatchKeys batch(keys, 0);
  CHECK(batch.keys() == keys);
  CHECK(batch.last(9999) == 9999);
  CHECK(batch.next(0) == BatchKeys::kNone);
  CHECK(BatchKeys({}, 0).keys().empty());
}

}  // namespace
}  // namespace gatherd
