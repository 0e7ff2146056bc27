#include "client/bench/key_generator.h"

#include <numeric>

#include "absl/numeric/int128.h"
#include "absl/random/distributions.h"

namespace gatherd::client {
namespace {

// Close to the golden section of the range: its multiples stay far apart.
uint64_t StrideFor(uint64_t rows) {
  uint64_t stride =
      static_cast<uint64_t>(static_cast<double>(rows) * 0.6180339887498949);
  if (stride == 0) stride = 1;
  while (std::gcd(stride, rows) != 1) ++stride;
  return stride;
}

}  // namespace

KeyGenerator::KeyGenerator(uint64_t rows)
    : rows_(rows), stride_(StrideFor(rows)) {}

KeyGenerator::KeyGenerator(uint64_t rows, double exponent)
    : KeyGenerator(rows) {
  if (rows > 1) zipf_.emplace(rows - 1, exponent, 1.0);
}

int64_t KeyGenerator::Next(absl::BitGenRef random) {
  if (zipf_.has_value()) return KeyOfRank((*zipf_)(random));
  return static_cast<int64_t>(absl::Uniform<uint64_t>(random, 0, rows_));
}

int64_t KeyGenerator::KeyOfRank(uint64_t rank) const {
  return static_cast<int64_t>(
      static_cast<uint64_t>(absl::uint128(rank) * stride_ % rows_));
}

}  // namespace gatherd::client
