#include "client/bench/self_describing_rows.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

namespace gatherd::client {
namespace {

std::vector<float> Row(int64_t key, uint64_t version, size_t dim) {
  std::vector<float> row(dim);
  WriteSelfDescribingRow(key, version, dim, row.data());
  return row;
}

}  // namespace

TEST_CASE("A row is recognised by its key and version alone") {
  for (const size_t dim : {2, 3, 8, 64, 8192}) {
    const std::vector<float> row = Row(5, 7, dim);
    CHECK(IsSelfDescribingRow(5, 7, dim, row.data()));
    if (dim < 8) continue;  // short rows may be alike
    CHECK_FALSE(IsSelfDescribingRow(5, 8, dim, row.data()));
    CHECK_FALSE(IsSelfDescribingRow(6, 7, dim, row.data()));
    CHECK_FALSE(IsSelfDescribingRow(7, 5, dim, row.data()));
  }
}

TEST_CASE("Half of one version and half of another is neither") {
  constexpr size_t kDim = 64;
  std::vector<float> torn = Row(5, 7, kDim);
  const std::vector<float> newer = Row(5, 8, kDim);
  std::copy(newer.begin() + kDim / 2, newer.end(), torn.begin() + kDim / 2);
  CHECK_FALSE(IsSelfDescribingRow(5, 7, kDim, torn.data()));
  CHECK_FALSE(IsSelfDescribingRow(5, 8, kDim, torn.data()));
}

TEST_CASE("Every element type holds a row without loss") {
  for (int64_t key = -100; key < 100; ++key) {
    const std::vector<float> row = Row(key, 3, 9);
    float largest = 0;
    for (const float value : row) {
      CHECK(value == std::round(value));
      largest = std::max(largest, std::abs(value));
    }
    CHECK(largest == 127);
  }
}

}  // namespace gatherd::client
