#include "core/shard/shard_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "core/base/hash.h"

namespace gatherd {
namespace {

constexpr uint64_t kMaxUint64 = ~uint64_t{0};

TEST_CASE("Stripes of 64 rows go round the devices") {
  constexpr uint32_t kNumDevices = 3;
  const auto place = [](uint64_t row) {
    return DenseRowPlace(row, kNumDevices);
  };
  CHECK(place(0) == RowPlace{DeviceIndex{0}, 0});
  CHECK(place(63) == RowPlace{DeviceIndex{0}, 63});
  CHECK(place(64) == RowPlace{DeviceIndex{1}, 0});
  CHECK(place(191) == RowPlace{DeviceIndex{2}, 63});
  CHECK(place(192) == RowPlace{DeviceIndex{0}, 64});
  // Row 2^32 + 65: stripe 67108865, which is 2 modulo 3.
  CHECK(place((uint64_t{1} << 32) + 65) ==
        RowPlace{DeviceIndex{2}, uint64_t{22369621} * 64 + 1});
}

TEST_CASE("Rows on each device are counted exactly, a part stripe too") {
  const auto rows = [](uint64_t total, uint32_t device) {
    return DenseRowsOnDevice(total, DeviceIndex{device}, 3);
  };
  CHECK(rows(0, 0) == 0);
  CHECK(rows(63, 0) == 63);
  CHECK(rows(63, 1) == 0);
  CHECK(rows(64, 0) == 64);
  CHECK(rows(65, 1) == 1);
  CHECK(rows(3 * 64 + 10, 0) == 74);
  CHECK(rows(3 * 64 + 10, 1) == 64);
  CHECK(rows(5 * 64 + 7, 2) == 64 + 7);
  CHECK(rows(6'000'000'000, 0) == 2'000'000'000);
}

TEST_CASE("Dense rows and places on devices are one to one, without gaps") {
  const auto num_devices = GENERATE(range(uint32_t{1}, uint32_t{9}));
  const uint64_t rows =
      GENERATE(uint64_t{1}, uint64_t{63}, uint64_t{64}, uint64_t{65},
               uint64_t{512}, uint64_t{1000}, uint64_t{4097}, uint64_t{12345});
  CAPTURE(num_devices, rows);
  // Ascending rows meet the local rows of each device in order: each device's
  // next one, every time.
  std::vector<uint64_t> next(num_devices);
  bool in_order = true;
  bool comes_back = true;
  for (uint64_t row = 0; row < rows; ++row) {
    const RowPlace place = DenseRowPlace(row, num_devices);
    const auto device = static_cast<uint32_t>(place.device);
    REQUIRE(device < num_devices);
    in_order = in_order && place.local_row == next[device]++;
    comes_back = comes_back && DenseRow(place, num_devices) == row;
  }
  CHECK(in_order);
  CHECK(comes_back);
  for (uint32_t i = 0; i < num_devices; ++i) {
    CHECK(DenseRowsOnDevice(rows, DeviceIndex{i}, num_devices) == next[i]);
  }
}

TEST_CASE("Dense placement holds past 2^32 rows and up to 2^64") {
  std::mt19937_64 random(11);
  for (uint32_t num_devices = 1; num_devices <= 8; ++num_devices) {
    for (int i = 0; i < 2'000; ++i) {
      const uint64_t row = random() >> (i % 40);
      const RowPlace place = DenseRowPlace(row, num_devices);
      const uint64_t on_device =
          DenseRowsOnDevice(row, place.device, num_devices);
      CAPTURE(num_devices, row);
      REQUIRE(DenseRow(place, num_devices) == row);
      // `row` comes behind exactly those below it on its device.
      REQUIRE(place.local_row == on_device);
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < num_devices; ++i) {
      total += DenseRowsOnDevice(kMaxUint64, DeviceIndex{i}, num_devices);
    }
    CHECK(total == kMaxUint64);
  }
}

TEST_CASE("The upper half of a hash alone decides the owner, in even parts") {
  CHECK(HashedOwner(0, 4) == DeviceIndex{0});
  CHECK(HashedOwner(0x3fffffffffffffff, 4) == DeviceIndex{0});
  CHECK(HashedOwner(0x4000000000000000, 4) == DeviceIndex{1});
  CHECK(HashedOwner(kMaxUint64, 4) == DeviceIndex{3});
  CHECK(HashedOwner(kMaxUint64, 1) == DeviceIndex{0});
  CHECK(HashedOwner(0x55555555ffffffff, 3) == DeviceIndex{0});
  CHECK(HashedOwner(0x5555555600000000, 3) == DeviceIndex{1});
}

TEST_CASE("Hashed keys of any pattern find room on their device") {
  const auto num_devices = GENERATE(range(uint32_t{1}, uint32_t{9}));
  const int64_t stride = GENERATE(int64_t{1}, int64_t{4096}, int64_t{1} << 40);
  for (const uint64_t rows : {1, 7, 100, 5000, 200'000}) {
    std::vector<uint64_t> counts(num_devices);
    for (uint64_t i = 0; i < rows; ++i) {
      const auto key = static_cast<int64_t>(i * static_cast<uint64_t>(stride));
      const uint64_t hash = MixKey(key, 0x5eed);
      ++counts[static_cast<uint32_t>(HashedOwner(hash, num_devices))];
    }
    CAPTURE(num_devices, stride, rows);
    const uint64_t most = *std::max_element(counts.begin(), counts.end());
    CHECK(most <= HashedRowsPerDevice(rows, num_devices));
  }
}

TEST_CASE("Room for chance is little on large tables and all of small ones") {
  CHECK(HashedRowsPerDevice(0, 8) == 0);
  CHECK(HashedRowsPerDevice(20, 8) == 20);
  CHECK(HashedRowsPerDevice(1'000'000, 1) == 1'000'000);
  const uint64_t even = 10'000'000 / 8;
  CHECK(HashedRowsPerDevice(10'000'000, 8) > even);
  CHECK(HashedRowsPerDevice(10'000'000, 8) < even + even / 100);
  CHECK(HashedRowsPerDevice(8'000'000'000, 8) > 1'000'000'000);
  CHECK(HashedRowsPerDevice(8'000'000'000, 8) < 1'001'000'000);
}

}  // namespace
}  // namespace gatherd
