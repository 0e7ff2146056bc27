#include "core/shard/shard_plan.h"

#include <algorithm>
#include <cmath>

#include "core/base/data_type.h"
#include "core/base/sizes.h"

namespace gatherd {
namespace {

// Of the index: buckets of eight 16-byte entries, nine tenths of them in use.
constexpr uint64_t kBucketBytes = 128;
constexpr uint64_t kBucketEntries = 8;

constexpr uint64_t IndexBytes(uint64_t rows) {
  return CeilDiv(rows * 10, kBucketEntries * 9) * kBucketBytes;
}

// Two batches of writes of 64 Ki rows, but no more than a sixteenth.
constexpr uint64_t SpareRows(uint64_t rows) {
  return std::min(uint64_t{2} << 16, CeilDiv(rows, 16));
}

uint64_t RowsOnDevice(const TableSpec& spec, const TierSpec& tier,
                      DeviceIndex device, uint32_t num_devices) {
  if (tier.spread == Spread::kReplicated) return tier.rows;
  if (spec.key_space == KeySpace::kDense) {
    return DenseRowsOnDevice(tier.rows, device, num_devices);
  }
  return HashedRowsPerDevice(tier.rows, num_devices);
}

}  // namespace

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

std::vector<DeviceTierBytes> GpuTableBytesPerDevice(const TableSpec& spec,
                                                    const TierSpec& tier,
                                                    uint32_t num_devices) {
  const uint64_t stride =
      CeilDiv(spec.row_bytes(), kDeviceRowAlignment) * kDeviceRowAlignment;
  const bool is_whole_dense = spec.key_space == KeySpace::kDense &&
                              spec.tiers.back().kind == TierKind::kGpu;
  std::vector<DeviceTierBytes> devices(num_devices);
  for (uint32_t i = 0; i < num_devices; ++i) {
    DeviceTierBytes& bytes = devices[i];
    bytes.rows = RowsOnDevice(spec, tier, DeviceIndex{i}, num_devices);
    const uint64_t spare_rows = is_whole_dense ? 0 : SpareRows(bytes.rows);
    bytes.row_bytes = (bytes.rows + spare_rows) * stride;
    bytes.index_bytes = is_whole_dense ? 0 : IndexBytes(bytes.rows);
  }
  return devices;
}

}  // namespace gatherd
