// Which device holds which row: pure functions, the same on every backend and
// for any number of devices, of which there is at least one.
//
// Rows of a dense table go round the devices in stripes, since row numbers are
// often sorted by frequency: a contiguous cut would put the hot head on one
// device. Rows of a hashed table go by hash.
#ifndef GATHERD_CORE_SHARD_SHARD_PLAN_H_
#define GATHERD_CORE_SHARD_SHARD_PLAN_H_

#include <cstdint>

#include "core/base/device_index.h"

namespace gatherd {

constexpr uint64_t kStripeRows = 64;

// Where a row of a dense table is: its number on the device that owns it.
// Local rows of each device run from 0 without gaps.
struct RowPlace {
  DeviceIndex device;
  uint64_t local_row;
};

constexpr bool operator==(const RowPlace& a, const RowPlace& b) {
  return a.device == b.device && a.local_row == b.local_row;
}

// `row` is any number of 64 bits, the table's size plays no part.
constexpr RowPlace DenseRowPlace(uint64_t row, uint32_t num_devices) {
  const uint64_t stripe = row / kStripeRows;
  return {DeviceIndex{static_cast<uint32_t>(stripe % num_devices)},
          stripe / num_devices * kStripeRows + row % kStripeRows};
}

// The row at `place`: undoes DenseRowPlace.
constexpr uint64_t DenseRow(const RowPlace& place, uint32_t num_devices) {
  const uint64_t stripe = place.local_row / kStripeRows * num_devices +
                          static_cast<uint32_t>(place.device);
  return stripe * kStripeRows + place.local_row % kStripeRows;
}

// How many of the rows 0 ... rows-1 `device` owns. Exact.
constexpr uint64_t DenseRowsOnDevice(uint64_t rows, DeviceIndex device,
                                     uint32_t num_devices) {
  const uint64_t index = static_cast<uint32_t>(device);
  const uint64_t whole_stripes = rows / kStripeRows;
  const uint64_t rest = rows % kStripeRows;
  const uint64_t stripes = whole_stripes / num_devices +
                           (index < whole_stripes % num_devices ? 1 : 0);
  const bool has_rest = index == whole_stripes % num_devices;
  return stripes * kStripeRows + (has_rest ? rest : 0);
}

// The owner of a key of a hashed table. `hash` is MixKey of the key; its upper
// half decides, so that the lower bits are as good as new for an index.
constexpr DeviceIndex HashedOwner(uint64_t hash, uint32_t num_devices) {
  return DeviceIndex{static_cast<uint32_t>(((hash >> 32) * num_devices) >> 32)};
}

// Rows that each device has to have room for, so that any `rows` keys of a
// hashed table find it: an even share and what chance may add to it, but no
// more than `rows`. That a seed overfills one of eight devices is less likely
// than 1 in 10^12, by Bernstein's inequality.
uint64_t HashedRowsPerDevice(uint64_t rows, uint32_t num_devices);

}  // namespace gatherd

#endif  // GATHERD_CORE_SHARD_SHARD_PLAN_H_
