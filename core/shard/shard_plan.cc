#include "core/shard/shard_plan.h"

#include <algorithm>
#include <cmath>

#include "core/base/sizes.h"

namespace gatherd {

uint64_t HashedRowsPerDevice(uint64_t rows, uint32_t num_devices) {
  if (num_devices == 1) return rows;
  // With mean m, Bernstein bounds the chance of m + t keys or more by
  // exp(-t^2 / (2 m + 2 t / 3)); this t makes it exp(-32), 1.3e-14.
  constexpr double kExponent = 32;
  const double mean =
      static_cast<double>(rows) / static_cast<double>(num_devices);
  const double slack = kExponent / 3 + std::sqrt(kExponent * kExponent / 9 +
                                                 2 * kExponent * mean);
  return std::min(rows, CeilDiv(rows, num_devices) +
                            static_cast<uint64_t>(std::ceil(slack)));
}

}  // namespace gatherd
